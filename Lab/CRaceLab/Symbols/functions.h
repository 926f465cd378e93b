// The extent of functions, and what their instructions are.

#pragma once

#include "Platform/build.h"

/// Returns the size of the function that contains a return address, and its start in `*start`; 0 if
/// it is unknown.
size_t rl_size_of_function(uintptr_t pc, uintptr_t *start);

/// Finds the first atomic operation in the function that contains `pc` which code compiled with
/// `-sanitize=thread` makes without calling the lab. Returns an address right behind its opcode, for
/// use like a return address; 0 if there is none.
uintptr_t rl_bare_atomic_near(uintptr_t pc);
