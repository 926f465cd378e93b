// Finds atomic operations that code compiled with `-sanitize=thread` makes without calling the lab.

#pragma once

#include "State/state.h"

/// Returns the address after the first such operation in the function that contains `pc`; 0 if
/// there is none. The compiler makes no call for `min` and `max` of an `Atomic`.
uintptr_t rl_bare_atomic_near(uintptr_t pc);
