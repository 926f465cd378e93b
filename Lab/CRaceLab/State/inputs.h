// What a run gets from outside, made the same for every run: random numbers and the time.

#pragma once

#include "State/state.h"

/// Whether the calling thread runs code of the scenario, rather than of the lab.
bool rl_runs_scenario(void);

/// Fills memory with random numbers. Each thread has a sequence of its own, so its numbers do not
/// depend on the order of the threads.
void rl_draw(void *memory, size_t size);

/// Called when the calling thread reads the clock. Returns for how long time has passed in this
/// run, in nanoseconds.
uint64_t rl_read_clock(void);
/// Every thread waits: time passes until a loop that reads the clock ends.
void rl_time_jumps(void);
/// Whether a thread repeats a loop that reads the clock, and time can still pass.
bool rl_waits_for_time(const thread *t);
