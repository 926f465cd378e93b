// Points, where a thread announces its next step. The hooks call these functions.

#pragma once

#include "State/state.h"

/// Lets other threads run first if the schedule says so, and returns when it is this thread's turn.
/// The caller then does what it announced. Returns the number of the step.
uint32_t rl_point(rl_kind kind, const void *address, rl_place place);

/// The same, for a wait with a time-out. Its length does not matter: the wait times out only when
/// no other thread is enabled, unless RL_LIBERTY_TIME_OUTS is given. See `rl_got_it`.
uint32_t rl_timed_point(rl_kind kind, const void *address, rl_place place);

/// The same, for an atomic operation. `order` is its memory ordering (`__ATOMIC_…`).
uint32_t rl_atomic_point(rl_kind kind, const void *address, rl_place place, int order);

/// Whether the granted step succeeded: false for an attempt that failed and for a wait that timed
/// out.
bool rl_got_it(uint32_t step);

/// The result of an RL_EXCHANGE that compares first.
void rl_exchanged(uint32_t step, bool done, int order, int order_of_failure);
/// The result of an RL_EXCHANGE that always writes: whether the value has changed.
void rl_swapped(bool changes, int order);

/// Keeps memory that is being freed from being reused during the run, so that an address identifies
/// one object. Memory that has been freed already is left alone, and that is a misuse. Returns false
/// if the caller has to free it now.
bool rl_keep(void *memory, rl_place place);

// MARK: - For the scheduler

/// A thread has reached a point: finds out whether it spins.
void rl_look_for_loop(thread *t, uintptr_t stack);
/// Carries out the step that was granted to a thread which the calling worker runs.
uint32_t rl_announced_step(int index);
