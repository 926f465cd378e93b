// The clocks.

#pragma once

#include "State/state.h"

#include <time.h>

/// If the code under test reads a clock, replaces the time that it shows by one that stands still.
bool rl_shows_still_time(clockid_t clock, struct timespec *time, uintptr_t caller);

/// When a moment really comes that the code under test has computed from a clock which stands still.
/// Between the runs, waits really wait.
struct timespec rl_real_moment(clockid_t clock, const struct timespec *moment);

/// When a moment comes that a clock shows, in the time of the model.
uint64_t rl_model_moment(clockid_t clock, const struct timespec *moment);

/// Whether a deadline has passed.
bool rl_has_come(clockid_t clock, const struct timespec *moment);

/// The calling thread is about to look at the clock or to sleep. That is part of its last step. A
/// thread that has made none makes one here: others may look at the clock or sleep before it does.
void rl_comes_to_clock(rl_place place);
