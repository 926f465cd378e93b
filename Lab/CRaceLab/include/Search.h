// The interface between the engine and the search. During a run the engine records what the search
// needs to know: `rl_execution`. Between two runs the search, which is Swift code on plain values
// (Lab/RaceLab/Search), decides what is run next: `rl_plan`. See `learn` and `choose` in
// `rl_scenario`.

#pragma once

#include "CRaceLab.h"
#include "Dependence.h"

/// The threads that can make the next step, for each kind of choice.
typedef struct {
    rl_thread_set enabled, early, time_out, spurious;
    rl_thread_set failing;  // enabled, and about to attempt to take a lock that another one holds
} rl_alternatives;

/// Whether a choice can be made, by a thread that does not sleep. `asleep_early`: the same for its
/// early attempt.
static inline bool rl_is_possible(uint32_t choice, const rl_alternatives *could,
                                  rl_thread_set asleep, rl_thread_set asleep_early) {
    const rl_thread_set thread = (rl_thread_set)1 << rl_chosen_thread(choice);
    switch (rl_chosen_way(choice)) {
        case RL_EARLY:
            return (could->early | could->failing) & ~asleep_early & thread;
        case RL_TIME_OUT:
            return could->time_out & thread;
        case RL_SPURIOUS:
            return could->spurious & thread;
    }
    return could->enabled & ~asleep & thread;
}

static inline void rl_add_choice(rl_alternatives *to, uint32_t choice) {
    const rl_thread_set thread = (rl_thread_set)1 << rl_chosen_thread(choice);
    const uint8_t way = rl_chosen_way(choice);
    rl_thread_set *set = way == RL_EARLY      ? &to->early
                         : way == RL_TIME_OUT ? &to->time_out
                         : way == RL_SPURIOUS ? &to->spurious
                                              : &to->enabled;
    *set |= thread;
}

// MARK: - From the engine to the search

/// What is known about the state before a step.
typedef struct {
    rl_alternatives could;
    rl_thread_set sleeping;      // the sleep set
    rl_thread_set asleep_early;  // … for early attempts: see `rl_plan`
    rl_thread_set in_runtime;  // those of them whose steps have unannounced effects in the runtime
    bool is_barrier;           // the step is possible only because no thread is enabled
    bool is_in_runtime;        // the step has such effects
    uint32_t first_effect;     // of the step; it has those up to the first of the next one
    uint32_t wishes;           // wishes for other choices, which the run did not follow; 0: none
} rl_node;

/// The next step of a thread.
typedef struct {
    uintptr_t address, pc;
    uint8_t kind;
    bool waits;        // the thread has announced the step, and waits for its turn
    bool is_spinning;  // … but waits until another thread has changed something
} rl_pending;

#define RL_UNKNOWN UINT32_MAX

/// Where a thread comes from. Two runs that make independent steps in different orders number their
/// threads differently, but the name stays the same.
typedef struct {
    uint64_t name;    // a hash of its starter's name, and of whether it is its first one, …
    int32_t starter;  // the thread that has started it, or -1: the scenario begins with it …
    int32_t step;     // … in this step
} rl_origin;

/// A choice with which a step reads another value.
typedef struct {
    uint32_t step, choice;
} rl_other_value;

/// A step that enables the next step of another thread, by starting or waking it.
typedef struct {
    uint32_t from, to;  // steps; `to` is RL_UNKNOWN until it is made
    uint32_t since;     // the step in which this became known
    int thread;
} rl_order;

/// What is known about the reference count of an object.
typedef struct {
    uintptr_t object, type;
    bool is_observed, asks_for_uniqueness, is_counted;
    int64_t at_first;  // the number of references before the first change
    int32_t change[RL_MAX_THREADS], least[RL_MAX_THREADS];  // each thread's sum, and its minimum
} rl_counted_object;

/// The effect of a step on the reference count of an object.
typedef struct {
    size_t of;  // the index of the object
    uint32_t step;
    int8_t by;  // the thread, also if the step is that of another one, which has resumed it
    // The sum of the thread's changes: before the step, after it, and its minimum in between. A
    // `deinit` in the step may retain its object again.
    int32_t before, after, least;
    bool looks;
} rl_counting;

static inline int32_t rl_least_change(const rl_counted_object *object, int thread) {
    return object->least[thread];
}

static inline void rl_set_change(rl_counted_object *object, int thread, int32_t change) {
    object->change[thread] = change;
    if (change < object->least[thread]) object->least[thread] = change;
}

static inline int32_t rl_change(const rl_counted_object *object, int thread) {
    return object->change[thread];
}

/// A run, as the engine has recorded it. Valid until the next run begins. Without reduction, the
/// search gets the steps only.
struct rl_execution {
    rl_status status;
    int thread_count;
    const rl_origin *origins;  // of each thread
    rl_thread_set tasks, finished;
    uint32_t step_count;
    uint32_t prescribed;  // how many of the steps were prescribed
    uint32_t limit;       // the run is redundant from this step on; UINT32_MAX: it is not
    const rl_step *steps;
    const uint64_t *fingerprints;  // of the execution before each step
    const rl_node *nodes;          // one before each step, and one at the end
    const rl_pending *pending;     // at each node: that of thread i at RL_MAX_THREADS * node + i
    const uint8_t *kinds;          // in the same way: of the sleeping threads' steps, as executed
    const uint32_t *slept;         // in the same way, if stores are kept: see `rl_plan`; or NULL
    const rl_other_value *values;  // in the order of the steps
    uint32_t value_count;
    const rl_effect *effects;
    uint32_t effect_count;
    const rl_order *orders;
    uint32_t order_count;
    // Whether a thread has waited with a time limit or for a condition, or has looked at the clock
    // again and again: only then do the liberties of the scenario make a difference.
    bool liberties_matter;
    bool group_order_shows;  // the one in which a group was entered and left, see group_order.c
    const rl_counted_object *objects;
    size_t object_count;
    const rl_counting *countings;  // in the order of the steps
    size_t counting_count;
};

// MARK: - From the search to the engine

/// A choice in whatever run.
typedef struct {
    uint64_t name;         // of the thread, see `rl_origin`
    uint32_t of_thread_0;  // the same choice, if the thread had this number
} rl_named_choice;

/// A choice to explore, and what to explore after it: a node of a wakeup tree. Number 0 is no wish.
typedef struct {
    rl_named_choice choice;
    uint32_t child, next;  // the first wish for the next step; the next one for this step
} rl_wish;

/// What to run next. Valid until the next call of the search.
struct rl_plan {
    const uint32_t *choices;  // see `rl_choice`
    uint32_t length;
    uint64_t fingerprint;        // of the execution before the last choice; 0: unknown
    rl_thread_set sleeping;      // the sleep set at the last choice …
    rl_thread_set asleep_early;  // … those whose early attempt would repeat what was explored …
    rl_thread_set in_runtime;    // … and those of them with unannounced effects in the runtime
    const uint8_t *kinds;        // the kinds of the sleeping threads' steps, as executed; or NULL
    // For each thread that does not sleep: reading one of the first so many stores would repeat
    // what has been explored; or NULL.
    const uint32_t *slept;
    // After these choices, the engine asks the sampler, if there is one. Otherwise it follows the
    // first possible wish, and then its children; without a wish it continues with the fewest
    // context switches.
    struct rl_sampler *sampler;
    const rl_wish *wishes;
    uint32_t first_wish;
};
