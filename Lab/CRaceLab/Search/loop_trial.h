// Tries whether a thread that seems to spin leaves its loop by itself.

#pragma once

#include "State/state.h"

/// The run is over. If a loop is still tried, something else has ended the run.
void rl_end_run_in_trial(void);

/// Identifies the callers of the function that makes the thread's next step; 0: a task leaves none
/// on the stack.
uint64_t rl_callers_of(const thread *t);

/// Whether the place of the thread's next step is in a loop that is known to end by itself.
bool rl_ends_by_itself(const thread *t);

/// Called when a thread reaches a point and it is known whether it spins. `is_in_loop`: it may be in
/// the same loop as before.
void rl_try_loop(thread *t, bool is_in_loop);

/// Whether there is no room for another loop to try in this run.
bool rl_has_too_many_loops(void);

/// A schedule to replay prescribes a step of a thread that spins. Returns whether a trial begins,
/// because another process may have found that the loop ends by itself.
bool rl_try_prescribed_loop(thread *t);

/// Whether this run is a trial. Then only its thread is enabled, its attempts are early if they can
/// be, and nothing is prescribed.
bool rl_is_trying(void);
/// Ends the trial if its thread cannot continue. Returns whether the result is known: then the run
/// ends, and the exploration starts over.
bool rl_ends_trial(rl_thread_set enabled);
/// The thread of the trial.
rl_thread_set rl_only_in_trial(void);
