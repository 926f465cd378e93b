// Partial-order reduction: explores one of the interleavings that differ only in the order of
// independent steps.

#pragma once

#include "Search/dependence.h"
#include "State/state.h"

/// Whether partial-order reduction is on.
bool rl_reduces(void);
void rl_begin_reduced_run(void);
/// The threads that can make the next step, for each kind of choice.
typedef struct {
    rl_thread_set enabled, early, time_out, spurious;
} alternatives;

/// Called before a step is chosen. `is_barrier`: the step is possible only because no other is.
void rl_come_to_node(const alternatives *could, bool is_barrier);
/// At the last prescribed choice: restores the kinds of the sleeping threads' steps, as executed.
void rl_fall_asleep_at_branch(void);
/// The choice with which the search continues, or NO_THREAD.
int rl_wished_choice(void);
/// Records an effect of the current step at an address. `free_for`: RL_FREE_… before it.
void rl_note_effect(uint8_t kind, uintptr_t address, uint8_t free_for);
/// Records that the current step has an unannounced effect in the concurrency runtime.
void rl_note_runtime(void);
/// Effects that are known only after the run, in the order of their steps.
void rl_note_late_effect(uint32_t step, uint8_t kind, uintptr_t address);
void rl_add_late_effects(void);
/// Records that the current step enables the next step of this thread.
void rl_note_order(int thread);
/// The same for the last of the first `step_count` steps.
void rl_note_order_from(uint32_t step_count, int thread);
/// Records that the current step waited for the end of this thread.
void rl_note_join(int of);
/// Records that this thread makes the next step.
void rl_follow_orders(int thread);
/// Removes the steps from this one on.
void rl_forget_steps_from(uint32_t step);
/// Announces alternatives that no race between two steps shows.
void rl_explore_all_choices(void);
/// After a run: finds what else to explore.
void rl_look_for_races(void);
/// A moment of a run, as the number of steps of each thread that happen before it.
typedef struct {
    uint32_t at[RL_MAX_THREADS];
} step_clock;

/// The clock of a step of the last run: the steps that happen before it, and itself.
const step_clock *rl_clock_of_step(uint32_t step);
/// Whether a clock covers a step.
bool rl_is_step_before(uint32_t step, const step_clock *clock);
/// Whether a thread is enabled after exactly the steps that `done` covers. `next` is its next step
/// in the run, UINT32_MAX if there is none.
bool rl_could_go_on(const step_clock *done, int thread, uint32_t next);
branch *rl_next_reduced_branch(void);
void rl_forget_reduction(void);
