// The interleavings that are still to be explored.

#include "Search/search.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"
#include "Search/reduction.h"

#include <string.h>

/// A first-in, first-out queue.
typedef struct {
    branch **items;
    size_t first, count, capacity;
} branch_queue;

static branch_queue *queues;    // one for each number of preemptions
static size_t queue_count;

static void push(uint32_t preemptions, branch *b) {
    if (preemptions >= queue_count) {
        size_t wanted = (size_t)preemptions + 8;
        queues = rl_grown(queues, queue_count, wanted, sizeof *queues);
        queue_count = wanted;
    }
    branch_queue *q = &queues[preemptions];
    MAKE_ROOM(q->items, q->count, q->capacity, 64);
    q->items[q->count++] = b;
}

/// The branch with the fewest preemptions; of those, the one found first.
static branch *next_found_branch(void) {
    for (size_t i = 0; i < queue_count; i++) {
        branch_queue *q = &queues[i];
        if (q->first == q->count) continue;
        branch *b = q->items[q->first++];
        if (q->first == q->count) q->first = q->count = 0;
        return b;
    }
    return NULL;
}

branch *rl_next_branch(void) {
    return rl_reduces() ? rl_next_reduced_branch() : next_found_branch();
}

void rl_forget_branches(void) {
    rl_forget_reduction();
    for (branch *b = next_found_branch(); b; b = next_found_branch()) discard(b);
    for (size_t i = 0; i < queue_count; i++)
        if (queues[i].items) discard(queues[i].items);
    if (queues) discard(queues);
    queues = NULL;
    queue_count = 0;
}

/// Adds the branch that makes another choice at step `k`.
static void add_branch(uint32_t k, uint8_t choice, rl_thread_set sleeping) {
    const rl_step *step = &lab.steps[k];
    int index = rl_chosen_thread(choice);
    int before = k > 0 ? lab.steps[k - 1].thread : NO_THREAD;
    uint32_t preemptions = step->preemptions + (index != before && has(step->enabled, before));
    int bound = lab.scenario->max_preemptions;
    if (bound >= 0 && preemptions > (uint32_t)bound) {
        lab.summary.preemption_bound_reached = true;
        return;
    }
    branch *b = rl_allocate(sizeof *b + k + 1, "a schedule");
    b->fingerprint = lab.fingerprints[k];
    b->length = k + 1;
    b->sleeping = lab.scenario->reduce ? sleeping : 0;
    for (uint32_t s = 0; s < k; s++) b->choices[s] = rl_choice(&lab.steps[s]);
    b->choices[k] = choice;
    push(preemptions, b);
}

/// At every step that was not prescribed, adds a branch for each other enabled thread, each attempt
/// that could come early, and each wait that could end unprompted. So every interleaving is reached
/// from exactly one other.
void rl_add_branches(void) {
    if (rl_reduces()) return rl_look_for_races();
    uint32_t from = lab.current ? lab.current->length : 0;
    uint32_t to = lab.step_count < lab.branch_limit ? lab.step_count : lab.branch_limit;
    for (uint32_t k = from; k < to; k++) {
        const rl_step *step = &lab.steps[k];
        rl_thread_set others = step->enabled & ~step->sleeping & ~set_of(step->thread);
        if ((lab.scenario->faults & RL_FAULT_SKIP_LAST_ALTERNATIVE) && others)
            others &= ~(0x80000000u >> __builtin_clz(others));
        rl_thread_set sleeping = step->sleeping | set_of(step->thread);
        for (int i = 0; i < lab.thread_count; i++) {
            if (!has(others, i)) continue;
            add_branch(k, (uint8_t)i, sleeping);
            sleeping |= set_of(i);
        }
        // Any later step of another thread may depend on an attempt that comes before a release:
        // there are many ways to observe that the release has happened.
        rl_thread_set early = step->could_be_early & ~step->sleeping;
        if (lab.scenario->faults & RL_FAULT_NO_EARLY_ATTEMPTS) early = 0;
        for (int i = 0; i < lab.thread_count; i++)
            if (has(early, i)) add_branch(k, (uint8_t)(i | RL_EARLY), 0);
        for (int i = 0; i < lab.thread_count; i++) {
            if (has(step->could_time_out, i)) add_branch(k, (uint8_t)(i | RL_TIME_OUT), 0);
            if (has(step->could_be_spurious, i)) add_branch(k, (uint8_t)(i | RL_SPURIOUS), 0);
        }
    }
}

/// Returns the schedule that the scenario prescribes, or NULL.
branch *rl_given_schedule(void) {
    const rl_scenario *s = lab.scenario;
    if (!s->schedule) return NULL;
    branch *b = rl_allocate(sizeof *b + s->schedule_length, "a schedule");
    b->length = s->schedule_length;
    memcpy(b->choices, s->schedule, s->schedule_length);
    return b;
}

#endif
