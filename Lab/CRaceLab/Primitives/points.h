// Points, where a thread announces its next step. The hooks call these functions.

#pragma once

#include "Scheduler/operation.h"

/// Lets other threads run first if the schedule says so, and returns when it is this thread's turn.
/// The caller then does what it announced. Returns the number of the step.
uint32_t rl_point(const rl_operation *operation, const void *address, rl_place place);

/// The same, for a wait with a time-out. It times out only when no other thread is enabled and no
/// other wait ends earlier, unless RL_LIBERTY_TIME_OUTS is given. Then the clocks show `deadline`,
/// which is in the time of the model. See `rl_got_it`.
uint32_t rl_timed_point(const rl_operation *operation, const void *address, rl_place place,
                        uint64_t deadline);

/// Whether a step succeeded: false for an attempt that failed and for a wait that timed out.
bool rl_got_it(uint32_t step);

// MARK: - For tasks

/// A thread has reached a point: finds out whether it spins.
void rl_look_for_loop(thread *t, uintptr_t stack);
/// Carries out the step that was granted to a thread which the calling worker runs.
uint32_t rl_announced_step(int index);
