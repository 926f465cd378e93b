// Tries whether a thread that seems to spin leaves its loop by itself.

#pragma once

#include "State/state.h"

/// Called for a new run.
void rl_forget_trial(void);

/// Whether a loop with this place is known to end by itself.
bool rl_ends_by_itself(uintptr_t pc);

/// Called when a thread reaches a point and it is known whether it spins. `is_in_loop`: it may be in
/// the same loop as before.
void rl_try_loop(thread *t, bool is_in_loop);

/// Whether this run has a trial. Until its result is known, only its thread is enabled. Sets
/// `*is_over` to whether it is known; then the run ends.
bool rl_is_trying(rl_thread_set *enabled, bool *is_over);
