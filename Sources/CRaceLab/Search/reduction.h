// Explores interleavings that differ only in the order of independent steps once.

#pragma once

#include "Search/dependence.h"
#include "State/state.h"

/// Whether interleavings that differ only in the order of independent steps are explored once.
bool rl_reduces(void);
void rl_begin_reduced_run(void);
/// The threads that can make the next step, in each way.
typedef struct {
    rl_thread_set enabled, early, time_out, spurious;
} alternatives;

/// A step is about to be chosen. `is_barrier`: it is possible only because nothing else is.
void rl_come_to_node(const alternatives *could, bool is_barrier);
/// At the last choice that is prescribed: what the steps of the sleeping threads have turned out as.
void rl_fall_asleep_at_branch(void);
/// The choice with which the search wants to go on, or NO_THREAD.
int rl_wished_choice(void);
/// The present step has done something at an address; `free_for`: RL_FREE_… before it.
void rl_note_effect(uint8_t kind, uintptr_t address, uint8_t free_for);
/// The present step does something that it did not announce, in the concurrency runtime.
void rl_note_runtime(void);
/// Effects that turn out only when the run is over, in the order of their steps.
void rl_note_late_effect(uint32_t step, uint8_t kind, uintptr_t address);
void rl_add_late_effects(void);
/// The present step makes the next one of this thread possible.
void rl_note_order(int thread);
/// The same for the last of the first `step_count` steps.
void rl_note_order_from(uint32_t step_count, int thread);
/// The present step has waited for the end of this thread.
void rl_note_join(int of);
/// This thread makes the next step.
void rl_follow_orders(int thread);
/// The steps from this one on are taken back.
void rl_forget_steps_from(uint32_t step);
/// There are alternatives that no race between two steps shows.
void rl_explore_all_choices(void);
/// After a run: finds out what else there is to explore.
void rl_look_for_races(void);
/// How many steps of each thread come before a moment.
typedef struct {
    uint32_t at[RL_MAX_THREADS];
} step_clock;

/// How many steps of each thread come before a step of the run that was looked at last, and it.
const step_clock *rl_clock_of_step(uint32_t step);
/// Whether a step is one of those that a clock counts.
bool rl_is_step_before(uint32_t step, const step_clock *clock);
/// Whether a thread can go on when just these steps have been made; `next` is the one it makes next,
/// UINT32_MAX if there is none.
bool rl_could_go_on(const step_clock *done, int thread, uint32_t next);
branch *rl_next_reduced_branch(void);
void rl_forget_reduction(void);
