// The state of a thread at the points that it visits: whether it has been there in the same state.
// It includes the registers that a called function preserves. No function between the code under
// test and a point uses these (see Package.swift), so what they hold belongs to that code.

#pragma once

#include "State/state.h"

/// When a thread was at a point.
typedef struct {
    uint32_t accesses;    // how many the thread had made
    uint32_t old_reads;   // how many old values it had read
    uint32_t least_held;  // the fewest locks that it has held since then
} visit_moment;

/// A state of a thread at a point to which it may come several times in each round of a loop.
typedef struct {
    visit_moment moment;
    uint64_t fingerprint;
    size_t block_count;
    uint32_t visits;  // to the same point since then
    uint32_t most;    // after so many, a newer state takes its place; 0: there is no state
    changes_seen changes;
} earlier_state;

/// A point that a thread has visited since its last lasting change.
typedef struct visit {
    uintptr_t address, pc;
    uint8_t what;              // the kind of the step, and whether the thread slept
    uint64_t callers;          // see rl_callers_of; 0: any
    bool is_changed;           // what it or a repeated later visit has read has changed since …
    bool is_changed_for_good;  // … and not only by taking or releasing a lock
    visit_moment moment;
    uint64_t fingerprint;   // of the thread's state, unless there is a copy of it
    const uint64_t *copy;   // see thread_state.c; NULL: none
    size_t stack_count;     // how many words of the stack are in the copy
    size_t block_count;     // how many blocks it had allocated …
    size_t recent;          // … and how many at its previous visit
    size_t recent_of_copy;  // what `recent` was when the copy was made
    earlier_state earlier;
} visit;

/// The state of a thread now, or a copy of an earlier one.
typedef struct {
    thread *thread;
    const uint64_t *registers, *stack;
    size_t stack_count;
    size_t block_count;      // how many blocks it had allocated
    const uint64_t *blocks;  // the copies of them; NULL: the state is that of now
} state;

/// `registers`: those that a called function preserves, as `setjmp` saves them.
state rl_state_now(thread *t, uintptr_t stack, const uint64_t *registers);

/// Keeps the state of the thread for the next visit. Of a task that runs, the states of the second
/// visit and the third are the first that are compared.
void rl_keep_state(visit *v, const state *s);
/// Whether the state is that of the visit, and keeps it for the next one.
bool rl_is_as_before(visit *v, const state *s);
