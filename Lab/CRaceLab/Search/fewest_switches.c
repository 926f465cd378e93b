// Computes, without running anything, the interleaving with the fewest context switches that is
// equivalent to a run. Among all orders that preserve the order of dependent steps, it finds one
// with the fewest preemptions and, of those, one with the fewest context switches.
//
// A thread that has begun continues as far as the order of dependent steps allows, because leaving
// it earlier never saves a switch. So the search only chooses which thread continues next. It is
// Dijkstra's algorithm; a state is the number of steps that each thread has made. Finally, steps
// are postponed until their thread continues, where that makes no difference.

#include "Search/reduction.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"

#include <string.h>

/// The steps made so far, and the path to this state.
typedef struct {
    step_clock done;
    int last;                   // the thread that made the last step
    uint32_t cost;              // preemptions in the upper half, all context switches in the lower
    int32_t from;               // the previous state; NO_THREAD: none
    size_t slot;                // where it is in the table
} state;

/// Consecutive steps of one thread.
typedef struct {
    int thread;
    uint32_t first, count;      // in `paths.steps`
    bool is_left;               // preempted after these steps
} block;

/// Enough for hundreds of steps. Beyond that the search gives up, and the interleaving is shown as
/// it was run.
enum { MOST_STATES = 4096, TABLE_SIZE = 4 * MOST_STATES };

static struct {
    state *states;
    uint32_t *heap;             // states by cost; of equal ones, the one found first
    uint32_t *table;            // of states, by hash; see `state_in`
    uint32_t state_count, heap_count;
    bool is_full;
    uint32_t *steps;            // the steps of all threads, thread by thread
    size_t step_capacity;
    uint32_t first[RL_MAX_THREADS + 1];
    block *blocks;
    size_t block_capacity;
} paths;

static void sort_steps(void) {
    if (paths.step_capacity < lab.step_count) {
        paths.step_capacity = 2 * (size_t)lab.step_count;
        paths.steps = rl_grown(paths.steps, 0, paths.step_capacity, sizeof *paths.steps);
    }
    uint32_t count = 0;
    for (int i = 0; i < lab.thread_count; i++) {
        paths.first[i] = count;
        for (uint32_t k = 0; k < lab.step_count; k++)
            if (lab.steps[k].thread == i) paths.steps[count++] = k;
    }
    paths.first[lab.thread_count] = count;
}

/// Returns the next step of a thread, or UINT32_MAX.
static uint32_t next_step(const step_clock *done, int thread) {
    const uint32_t at = paths.first[thread] + done->at[thread];
    return at < paths.first[thread + 1] ? paths.steps[at] : UINT32_MAX;
}

/// Whether a step would separate a release from the early attempt that has to come right before it.
static bool comes_too_soon(const step_clock *done, uint32_t step) {
    const uint8_t thread = lab.steps[step].thread;
    for (uint32_t k = step; k > 0 && lab.steps[k - 1].thread != thread; k--) {
        const rl_step *other = &lab.steps[k - 1];
        const bool is_early = other->early && other->before == thread;
        if (is_early && !rl_is_step_before(k - 1, done)) return true;
    }
    return false;
}

static bool can_be_next(const step_clock *done, int thread) {
    const uint32_t step = next_step(done, thread);
    if (step == UINT32_MAX) return false;
    const step_clock *needs = rl_clock_of_step(step);
    for (int i = 0; i < lab.thread_count; i++)
        if (i != thread && needs->at[i] > done->at[i]) return false;
    return !comes_too_soon(done, step);
}

static void go_on(step_clock *done, int thread) {
    while (can_be_next(done, thread)) done->at[thread]++;
}

// MARK: - States

/// Returns the state in a slot of the table, or NULL. A slot may contain the number of a state of an
/// earlier search: clearing the table for each search would take longer than most searches.
static const state *state_in(size_t slot) {
    const uint32_t index = paths.table[slot];
    const bool is_there = index < paths.state_count && paths.states[index].slot == slot;
    return is_there ? &paths.states[index] : NULL;
}

static size_t slot_of(const step_clock *done, int last) {
    uint64_t hash = (uint64_t)last + 1;
    for (int i = 0; i < lab.thread_count; i++)
        hash = (hash ^ done->at[i]) * 0x9E3779B97F4A7C15ull;
    size_t at = (size_t)(hash >> 40) % TABLE_SIZE;
    for (;; at = (at + 1) % TABLE_SIZE) {
        const state *s = state_in(at);
        if (!s || (s->last == last && memcmp(&s->done, done, sizeof *done) == 0)) return at;
    }
}

static bool is_better(uint32_t left, uint32_t right) {
    const uint32_t a = paths.states[left].cost, b = paths.states[right].cost;
    return a != b ? a < b : left < right;
}

static void swap(uint32_t i, uint32_t k) {
    const uint32_t other = paths.heap[i];
    paths.heap[i] = paths.heap[k];
    paths.heap[k] = other;
}

static void push(uint32_t index) {
    uint32_t at = paths.heap_count++;
    paths.heap[at] = index;
    for (; at > 0 && is_better(paths.heap[at], paths.heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(at, (at - 1) / 2);
}

static uint32_t pop(void) {
    const uint32_t best = paths.heap[0];
    paths.heap[0] = paths.heap[--paths.heap_count];
    for (uint32_t at = 0;;) {
        uint32_t child = 2 * at + 1;
        if (child >= paths.heap_count) return best;
        if (child + 1 < paths.heap_count && is_better(paths.heap[child + 1], paths.heap[child]))
            child++;
        if (!is_better(paths.heap[child], paths.heap[at])) return best;
        swap(at, child);
        at = child;
    }
}

/// Adds a path to a state, unless a known path costs no more.
static void reach(const step_clock *done, int last, uint32_t cost, int32_t from) {
    const size_t slot = slot_of(done, last);
    const state *known = state_in(slot);
    if (known && known->cost <= cost) return;
    if (paths.state_count == MOST_STATES) {
        paths.is_full = true;
        return;
    }
    paths.table[slot] = paths.state_count;
    paths.states[paths.state_count] = (state){*done, last, cost, from, slot};
    push(paths.state_count++);
}

static void reach_all_from(uint32_t index) {
    const state *s = &paths.states[index];
    const bool is_forced =
        s->last != NO_THREAD && rl_could_go_on(&s->done, s->last, next_step(&s->done, s->last));
    const uint32_t cost = s->last == NO_THREAD ? 0 : (is_forced ? 0x10000 : 0) + 1;
    for (int i = 0; i < lab.thread_count; i++) {
        if (i == s->last || !can_be_next(&s->done, i)) continue;
        step_clock done = s->done;
        go_on(&done, i);
        reach(&done, i, s->cost + cost, (int32_t)index);
    }
}

// MARK: - The path

static bool is_end(const state *s) {
    for (int i = 0; i < lab.thread_count; i++)
        if (next_step(&s->done, i) != UINT32_MAX) return false;
    return true;
}

static uint32_t find_blocks(uint32_t end) {
    uint32_t count = 0;
    for (const state *s = &paths.states[end]; s->from != NO_THREAD; s = &paths.states[s->from]) count++;
    if (paths.block_capacity < count) {
        paths.block_capacity = 2 * (size_t)count;
        paths.blocks = rl_grown(paths.blocks, 0, paths.block_capacity, sizeof *paths.blocks);
    }
    uint32_t k = count, cost = paths.states[end].cost;
    for (const state *s = &paths.states[end]; s->from != NO_THREAD; s = &paths.states[s->from]) {
        const uint32_t from = paths.states[s->from].done.at[s->last];
        paths.blocks[--k] = (block){s->last, paths.first[s->last] + from,
                                    s->done.at[s->last] - from, cost >> 16 > s->cost >> 16};
        cost = s->cost;
    }
    return count;
}

/// Whether a step comes before a step in the blocks from `first` to `end`.
static bool is_needed(uint32_t step, uint32_t first, uint32_t end) {
    for (uint32_t b = first; b < end; b++)
        for (uint32_t k = 0; k < paths.blocks[b].count; k++) {
            const uint32_t other = paths.steps[paths.blocks[b].first + k];
            if (rl_is_step_before(step, rl_clock_of_step(other))) return true;
        }
    return false;
}

/// Moves steps that a thread makes before it is preempted to its next block, where that makes no
/// difference. So the last step before a preemption is the one after which the preemption matters.
static void postpone(uint32_t count) {
    for (uint32_t b = 0; b < count; b++) {
        block *this = &paths.blocks[b];
        uint32_t next = b + 1;
        while (next < count && paths.blocks[next].thread != this->thread) next++;
        if (!this->is_left || next == count) continue;
        while (this->count > 1 &&
               !is_needed(paths.steps[this->first + this->count - 1], b + 1, next)) {
            this->count--;
            paths.blocks[next].first--;
            paths.blocks[next].count++;
        }
    }
}

static void write_choices(uint32_t index, uint8_t *choices) {
    const uint32_t count = find_blocks(index);
    postpone(count);
    for (uint32_t b = 0; b < count; b++)
        for (uint32_t k = 0; k < paths.blocks[b].count; k++)
            *choices++ = rl_choice(&lab.steps[paths.steps[paths.blocks[b].first + k]]);
}

static void make_room(void) {
    if (!paths.states) {
        paths.states = rl_grown(NULL, 0, MOST_STATES, sizeof *paths.states);
        paths.heap = rl_grown(NULL, 0, MOST_STATES, sizeof *paths.heap);
        paths.table = rl_grown(NULL, 0, TABLE_SIZE, sizeof *paths.table);
    }
    paths.state_count = paths.heap_count = 0;
    paths.is_full = false;
}

bool rl_fewest_switches(uint8_t *choices, uint32_t *forced, uint32_t *switches) {
    if (!rl_reduces() || lab.step_count == 0 || lab.status == RL_CRASHES) return false;
    sort_steps();
    make_room();
    const step_clock nothing = {0};
    reach(&nothing, NO_THREAD, 0, NO_THREAD);
    while (paths.heap_count > 0 && !paths.is_full) {
        const uint32_t index = pop();
        const state *s = &paths.states[index];
        if (is_end(s)) {
            write_choices(index, choices);
            *forced = s->cost >> 16;
            *switches = s->cost & 0xFFFF;
            return true;
        }
        const bool is_best = paths.table[s->slot] == index;
        if (is_best) reach_all_from(index);
    }
    return false;
}

#endif
