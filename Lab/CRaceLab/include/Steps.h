// The steps of a run, and the choices that lead to them.

#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RL_MAX_THREADS 32

/// A set of threads, one bit for each.
typedef uint32_t rl_thread_set;

typedef struct {
    uint8_t thread;
    uint8_t kind;
    bool failed;                   // an attempt that did not succeed, or a wait that timed out
    uint32_t locks_held;           // by this thread, after the step
    rl_thread_set enabled;         // the threads that could have run
    rl_thread_set sleeping;        // the threads in the sleep set: running them here is redundant
    rl_thread_set could_be_early;  // the threads whose attempt could come early, see RL_EARLY
    bool early;                    // this attempt did come early
    uint8_t unprompted;  // continues without what it waits for: RL_TIME_OUT, RL_SPURIOUS or 0
    rl_thread_set could_time_out, could_be_spurious;  // the threads that could have done so
    int8_t before;                                    // see RL_EARLY: that other thread, or -1
    int8_t resumes;                                   // the task that this step resumes; -1: none
    int8_t holder;         // of an arrival at an actor: the task that occupies it; -1: none
    uint8_t element;       // of a request for a stream's element: RL_RECEIVES, RL_WAITS; or 0
    uint32_t preemptions;  // before this step
    uint32_t reads;        // the number of the store that an atomic operation reads, from 1; or 0
    uint32_t stores;       // … and of the one that it makes; or 0
    bool is_old;           // there is a newer store: the value is `old_value` …
    uint64_t old_value;    // … or its first eight bytes …
    uintptr_t missed_pc;   // … and this is the place of the next store
    uintptr_t address;
    uintptr_t pc;
} rl_step;

/// Part of a choice. Either this thread's attempt to take a lock comes before the release that ends
/// the last step of another thread, and fails; or this thread reaches a queue after work that
/// another thread has sent there, and waits for that work.
#define RL_EARLY 0x80

/// Part of a choice: the thread continues without what it waits for, because the wait timed out or
/// because a condition woke it spuriously.
#define RL_TIME_OUT 0x40
#define RL_SPURIOUS 0xC0

/// What a task does when it asks a stream for its next element: receives it (or the end of the
/// stream), or waits.
enum { RL_RECEIVES = 1, RL_WAITS };

/// Part of a choice: from this bit on, the number of the store that an atomic operation reads: 1
/// for the value that was there first, and so on, in the order of the stores to the variable. 0:
/// the newest one.
enum { RL_STORE_SHIFT = 8 };

/// The choice that led to a step.
static inline uint32_t rl_choice(const rl_step *step) {
    return step->thread | (step->early ? (uint32_t)RL_EARLY : 0) | step->unprompted |
           (step->is_old ? step->reads << RL_STORE_SHIFT : 0);
}

/// The same choice, with the number of the store even if that is the newest one, so that the step
/// reads it in any order of independent steps.
static inline uint32_t rl_exact_choice(const rl_step *step) {
    return rl_choice(step) | step->reads << RL_STORE_SHIFT;
}

static inline int rl_chosen_thread(uint32_t choice) { return choice & 0xFF & ~RL_SPURIOUS; }

/// RL_EARLY, RL_TIME_OUT, RL_SPURIOUS or 0.
static inline uint8_t rl_chosen_way(uint32_t choice) { return choice & RL_SPURIOUS; }

static inline uint32_t rl_chosen_store(uint32_t choice) { return choice >> RL_STORE_SHIFT; }

/// The same choice, with the newest store.
static inline uint32_t rl_without_store(uint32_t choice) {
    return choice & ((1u << RL_STORE_SHIFT) - 1);
}
