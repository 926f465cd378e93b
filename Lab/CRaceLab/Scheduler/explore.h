// An exploration: one run after another.

#pragma once

#include "Platform/build.h"

/// Resets the engine in a child process, which has only one of its parent's threads. Steps are
/// written to the recorder, which has room for `room` steps.
void rl_begin_in_child(uint32_t room);
