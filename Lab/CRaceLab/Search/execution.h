// Records a run for the search, and follows what the search wishes.

#pragma once

#include "State/state.h"

/// Whether partial-order reduction is on.
bool rl_reduces(void);
void rl_begin_execution(void);
/// Called before a step is chosen. `is_barrier`: it is possible only because no thread is enabled.
void rl_come_to_node(const rl_alternatives *could, bool is_barrier);
/// The next step of each thread, before the step to be chosen.
const rl_pending *rl_pending_steps(void);
/// At the last prescribed choice: sets the sleep set with which the search continues.
void rl_fall_asleep_at_branch(void);
/// The next choice with which the search would continue, or NO_THREAD.
int64_t rl_wished_choice(void);
/// Records an effect of the current step at an address. `free_for`: RL_FREE_… before it.
void rl_note_effect(uint8_t kind, uintptr_t address, uint8_t free_for);
/// Adds to the last effect the number of the store that it makes or reads, and a hash of the value
/// that it replaces, or would replace.
void rl_note_store_of_effect(uint32_t store, uint64_t value);
/// Records a choice with which the step that is being chosen would read another value.
void rl_note_other_value(uint32_t choice);
/// Records that the current step has an unannounced effect in the concurrency runtime.
void rl_note_runtime(void);
/// Records that the current step enables the next step of this thread.
void rl_note_order(int thread);
/// The same for the last of the first `step_count` steps.
void rl_note_order_from(uint32_t step_count, int thread);
/// Records that the current step had to wait for this step.
void rl_note_wait(uint32_t step);
/// Records that this thread makes the next step.
void rl_follow_orders(int thread);
/// Removes the steps from this one on.
void rl_forget_steps_from(uint32_t step);

// MARK: - Between two runs

/// Passes the run that has just ended to the search. Returns false if it wants to start again.
bool rl_learn(void);
/// The schedule that the scenario prescribes becomes `rl_exploration.current`.
void rl_begin_with_given_schedule(void);
/// Asks the search what to run next, and makes that `rl_exploration.current`; NULL: nothing.
void rl_choose(void);
