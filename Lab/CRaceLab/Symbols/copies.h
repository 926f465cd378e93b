// Copies of values that the compiler has moved into functions of its own, such as those of generic
// types.

#pragma once

#include "State/state.h"

/// Whether two return addresses belong to the same function.
bool rl_are_in_one_function(uintptr_t pc, uintptr_t other);
/// Whether the code between two return addresses calls a function into which the compiler has moved
/// the copy of a value, such as one of a generic type.
bool rl_copies_between(uintptr_t begin, uintptr_t end);
