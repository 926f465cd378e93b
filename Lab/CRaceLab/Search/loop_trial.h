// Tries whether a thread that seems to spin leaves its loop by itself.

#pragma once

#include "State/state.h"

void rl_begin_run_without_trial(void);

/// Whether a loop with this place is known to end by itself.
bool rl_ends_by_itself(uintptr_t pc);

/// Called when a thread reaches a point and it is known whether it spins. `was_here`: the thread has
/// been at this point before in the same loop.
void rl_try_loop(thread *t, bool was_here);

/// Whether a trial is going on. Then only its thread is enabled. Sets `*is_over` if there is a result:
/// the run is to end.
bool rl_is_trying(rl_thread_set *enabled, bool *is_over);
