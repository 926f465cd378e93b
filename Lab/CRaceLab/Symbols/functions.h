// The extent of functions.

#pragma once

#include "Platform/build.h"

/// Returns the size of the function that contains a return address, and its start in `*start`; 0 if
/// it is unknown.
size_t rl_size_of_function(uintptr_t pc, uintptr_t *start);
