// Remnants of the lab and the C library on the stack differ from call to call, as numbers of steps
// do, and from run to run. The code under test can see them in stack slots that a function has not
// written yet, and two iterations of a loop that waits would not look the same.

#pragma once

#include "Platform/build.h"

/// Clears what a call of the lab may have left below the caller's frame.
void rl_clean_stack(void);
/// The same where the lab has only looked something up, or noted it: that needs little room.
void rl_clean_top_of_stack(void);
/// Clears what an earlier thread body may have left before the next one runs on the same stack.
void rl_clean_whole_stack(void);

/// The size of the stack of a thread of the lab. Code under test may recurse as deeply there as on
/// the main thread.
size_t rl_size_of_stack(void);
/// In a child process, raises the limit of its memory by the size of a stack.
void rl_allow_stack(size_t size);
