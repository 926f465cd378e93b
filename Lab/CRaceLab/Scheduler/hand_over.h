// The operating-system threads, and how one of them lets another one run.

#pragma once

#include "State/state.h"

worker *rl_new_worker(void);
/// Returns an idle worker, `wanted` if it is idle.
worker *rl_idle_worker(worker *wanted);
/// The calling worker has nothing to do.
void rl_become_idle(void);

void rl_hand_over(worker *w);
void rl_assign(int what);
/// Lets a thread make the next step, whether or not a worker runs it already.
void rl_pass_turn(int index);

// MARK: - The calling operating-system thread

/// It is this worker.
void rl_begin_work(worker *w);
/// Binds it to the processor on which the exploration runs.
void rl_bind_to_processor(worker *w);
