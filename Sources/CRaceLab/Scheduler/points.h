// Where a thread announces what it is about to do. The hooks call these.

#pragma once

#include "State/state.h"

/// Lets others go first, if the schedule says so, and returns when it is this thread's turn.
/// The caller then does what it announced. Returns the number of the step.
uint32_t rl_point(rl_kind kind, const void *address, rl_place place);

/// The same, for something that is waited for only so long. How long is no matter: the time is
/// up when no other thread can go on, and not before. See `rl_got_it`.
uint32_t rl_timed_point(rl_kind kind, const void *address, rl_place place);

/// The same, for an atomic operation; its memory ordering as C numbers them (`__ATOMIC_…`).
uint32_t rl_atomic_point(rl_kind kind, const void *address, rl_place place, int order);

/// Whether the step that was just granted got what it came for: false for a mere attempt that
/// came too early, and when the time was up.
bool rl_got_it(uint32_t step);

/// What came of an RL_EXCHANGE that compares first.
void rl_exchanged(uint32_t step, bool done, int order, int order_of_failure);
/// What came of an RL_EXCHANGE that writes in any case: whether something else is there now.
void rl_swapped(bool changes, int order);

/// Keeps freed memory from being used again during the run, so that an address stands for one
/// thing only. Returns false if the caller is to free it now.
bool rl_keep(void *memory);

// MARK: - For the scheduler

/// A step was granted to a thread that this one runs: does what it means.
uint32_t rl_announced_step(int index);
void rl_report_last_step(thread *t);
