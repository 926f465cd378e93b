// How a sampled run chooses its steps: pure functions on plain values. The engine asks after each
// step; the search prepares a sampler for each run (Lab/RaceLab/Search/Sampling.swift), and the
// tests ask without a single thread.

#pragma once

#include "Search.h"

/// - RL_RANDOM_WALK: any thread, with equal chances, at every step.
/// - RL_PRIORITIES: the thread with the highest priority; at a few steps, the priority of the
///   thread that has just run becomes the lowest. (Burckhardt, Kothari, Musuvathi, Nagarakatte, "A
///   Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010: PCT.)
/// - RL_PARTIAL_ORDER: the step with the highest priority. After a step, all that depend on it get
///   new priorities. (Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018: POS.)
/// - RL_UNIFORM: each order of the steps at some places in the code is equally likely. (Zhao,
///   Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025: SURW.)
typedef enum { RL_RANDOM_WALK = 0, RL_PRIORITIES, RL_PARTIAL_ORDER, RL_UNIFORM } rl_method;

#define RL_MAX_CHANGES 16
#define RL_MAX_PLACES 16

/// The state of a sampled run.
typedef struct rl_sampler {
    rl_method method;
    uint64_t random;
    uint32_t preemption_bound;  // UINT32_MAX: any number
    /// Of the threads or of their next steps; 0: not yet drawn.
    uint64_t priority[RL_MAX_THREADS];

    // RL_PRIORITIES: after that many steps, the running thread gets a low priority
    uint32_t changes[RL_MAX_CHANGES];
    uint32_t change_count;

    // RL_PARTIAL_ORDER
    rl_pending made;  // the last step, as announced

    // RL_UNIFORM
    uintptr_t places[RL_MAX_PLACES];  // in the code
    uint32_t place_count;
    uint32_t left[RL_MAX_THREADS];   // how many steps there a thread has still to make
    int8_t starter[RL_MAX_THREADS];  // the thread that starts it; -1: none, or unknown
    int8_t intended;                 // the thread that makes the next step there; -1: none
} rl_sampler;

/// What a sampler sees before a step.
typedef struct {
    rl_alternatives could;
    const rl_pending *pending;  // of each thread
    int thread_count;
    uint32_t step;
    int last;  // the thread that made the last step
    uint32_t preemptions;
} rl_view;

/// Returns a number that looks like a random one, a different one for each. (Steele, Lea, Flood,
/// "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014: SplitMix64.)
static inline uint64_t rl_mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

/// Returns the next number of a sequence that is the same on every machine.
static inline uint64_t rl_random(uint64_t *state) {
    return rl_mix(*state += 0x9E3779B97F4A7C15ull);
}

static inline uint32_t rl_random_below(uint64_t *state, uint32_t bound) {
    return (uint32_t)(((rl_random(state) >> 32) * bound) >> 32);
}

static inline bool rl_contains(rl_thread_set set, int thread) { return set >> thread & 1; }

static inline int rl_any_of(rl_thread_set set, uint64_t *random) {
    for (uint32_t skip = rl_random_below(random, (uint32_t)__builtin_popcount(set)); skip; skip--)
        set &= set - 1;
    return __builtin_ctz(set);
}

/// Draws the missing priorities, and returns the thread with the highest. Drawn priorities are
/// higher than the numbers of changes.
static inline int rl_highest(rl_sampler *s, rl_thread_set candidates) {
    int highest = -1;
    for (rl_thread_set rest = candidates; rest; rest &= rest - 1) {
        const int thread = __builtin_ctz(rest);
        if (!s->priority[thread]) s->priority[thread] = rl_random(&s->random) | 1ull << 63;
        if (highest < 0 || s->priority[thread] > s->priority[highest]) highest = thread;
    }
    return highest;
}

static inline int rl_by_priorities(rl_sampler *s, const rl_view *now, rl_thread_set candidates) {
    for (uint32_t i = 0; i < s->change_count; i++)
        if (s->changes[i] == now->step && now->step) s->priority[now->last] = i + 1;
    return rl_highest(s, candidates);
}

static inline int rl_by_partial_order(rl_sampler *s, const rl_view *now, rl_thread_set candidates) {
    for (int i = 0; i < now->thread_count && now->step; i++) {
        const rl_pending *p = &now->pending[i];
        if (i == now->last || rl_are_dependent(p->kind, p->address, s->made.kind, s->made.address))
            s->priority[i] = 0;
    }
    const int thread = rl_highest(s, candidates);
    s->made = now->pending[thread];
    return thread;
}

/// The thread, or the one that will start it, or the one that will start that one …
static inline int rl_begun(const rl_sampler *s, const rl_view *now, int thread) {
    while (s->starter[thread] >= 0 && (thread >= now->thread_count || !now->pending[thread].waits))
        thread = s->starter[thread];
    return thread;
}

static inline bool rl_is_there(const rl_sampler *s, const rl_pending *p) {
    for (uint32_t i = 0; p->waits && i < s->place_count; i++)
        if (s->places[i] == p->pc) return true;
    return false;
}

/// Draws the thread that makes the next step there: in proportion to the number of such
/// steps that it and the threads to be started by it have left.
static inline int rl_draw_intended(rl_sampler *s, const rl_view *now) {
    uint32_t sum = 0;
    for (int i = 0; i < RL_MAX_THREADS; i++) sum += s->left[i];
    if (!sum) return -1;
    uint32_t at = rl_random_below(&s->random, sum);
    int thread = 0;
    for (; at >= s->left[thread]; thread++) at -= s->left[thread];
    return rl_begun(s, now, thread);
}

static inline int rl_by_uniform_order(rl_sampler *s, const rl_view *now, rl_thread_set candidates) {
    rl_thread_set there = 0;
    for (rl_thread_set rest = candidates; rest; rest &= rest - 1) {
        const int thread = __builtin_ctz(rest);
        if (rl_is_there(s, &now->pending[thread])) there |= 1u << thread;
    }
    if (s->intended < 0) s->intended = (int8_t)rl_draw_intended(s, now);
    rl_thread_set kept_back = there;
    if (s->intended >= 0) kept_back &= ~(1u << s->intended);
    // The thread that should be next there may be blocked, or the number was a wrong guess.
    const rl_thread_set free = candidates & ~kept_back;
    const int thread = rl_any_of(free ? free : candidates, &s->random);
    if (rl_contains(there, thread)) {
        if (s->left[thread]) s->left[thread]--;
        s->intended = -1;
    }
    return thread;
}

/// Chooses the next step.
static inline uint8_t rl_sampled_choice(rl_sampler *s, const rl_view *now) {
    const rl_alternatives *could = &now->could;
    rl_thread_set candidates = could->enabled | could->time_out | could->spurious;
    const bool has_to_stay = now->step && now->preemptions >= s->preemption_bound;
    if (has_to_stay && rl_contains(could->enabled, now->last)) candidates = 1u << now->last;
    const int thread = s->method == RL_PRIORITIES      ? rl_by_priorities(s, now, candidates)
                       : s->method == RL_PARTIAL_ORDER ? rl_by_partial_order(s, now, candidates)
                       : s->method == RL_UNIFORM       ? rl_by_uniform_order(s, now, candidates)
                                                       : rl_any_of(candidates, &s->random);
    uint8_t ways[4];
    uint32_t count = 0;
    if (rl_contains(could->enabled, thread)) ways[count++] = 0;
    if (rl_contains(could->enabled & could->early, thread)) ways[count++] = RL_EARLY;
    if (rl_contains(could->time_out, thread)) ways[count++] = RL_TIME_OUT;
    if (rl_contains(could->spurious, thread)) ways[count++] = RL_SPURIOUS;
    const uint8_t way = count > 1 ? ways[rl_random_below(&s->random, count)] : ways[0];
    return (uint8_t)thread | way;
}
