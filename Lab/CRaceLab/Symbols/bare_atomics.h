// Finds atomic operations that code compiled with `-sanitize=thread` makes without calling the lab.

#pragma once

#include "State/state.h"

/// Finds the first such operation in the function that contains `pc`. Returns an address right
/// behind its opcode, for use like a return address; 0 if there is none.
uintptr_t rl_bare_atomic_near(uintptr_t pc);
