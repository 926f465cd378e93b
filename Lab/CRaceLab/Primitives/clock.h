// The clocks.

#pragma once

#include "Platform/build.h"

#include <time.h>

/// If the code under test reads a clock, replaces the time that it shows by one that stands still.
bool rl_shows_still_time(clockid_t clock, struct timespec *time, uintptr_t caller);
