// What the lab and the C library leave on the stack differs from run to run, and shows through where a
// function of the code under test has not written yet.

#pragma once

#include "Platform/build.h"

/// Clears what a call of the lab may have left below.
void rl_clean_stack(void);
/// Clears what an earlier body may have left, before the next one runs on the same stack.
void rl_clean_whole_stack(void);
