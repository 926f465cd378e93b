// The dependence relation between steps, and what it means for the sleep set. The engine, which
// runs threads, and the search, which only knows what they did, share these pure functions.

#pragma once

#include "CRaceLab.h"

/// Effects of a step on the reference count of an object, in addition to what its point announces.
/// Of an object that ended in the run, all that matters is which step removed its last reference.
enum {
    RL_COUNT = 200,  // changes the count, and how is unknown
    RL_LOOK,         // reads it, or checks whether the object exists
    RL_DROP,         // removes references, but not the last one; a look may have added one before
    RL_LAST,         // removes the last one
};

/// Effects of a step that reads one of several values of an atomic variable: a load, and an
/// exchange that fails. Which one is part of the choice. So its order after stores makes no
/// difference, except after the store that it reads; but it cannot read a store that comes later.
enum { RL_LOAD = 210, RL_FAILED_EXCHANGE };

/// The release of a lock by the thread that holds it alone, or by a reader.
enum { RL_UNLOCK = 220, RL_SHARED_UNLOCK };

/// Work arrives where only one thread takes it. Taking earlier work commutes with that, and taking
/// this work comes later in each run (`rl_note_wait`).
enum { RL_DELIVER = 230 };

/// Effects on the time: a task begins to sleep, and a thread lets time pass while it has its turn, or
/// until a moment that may have come already. The time at which a sleep ends depends on all of them.
enum { RL_FALL_ASLEEP = 240, RL_PASS_TIME, RL_REACH_TIME };

/// Entering and leaving a group, if the order of that does not show.
enum { RL_COME = 250, RL_GO };

static inline uint8_t rl_without_order(uint8_t kind) {
    return kind == RL_ENTER ? RL_COME : kind == RL_LEAVE ? RL_GO : kind;
}

static inline bool rl_is_release(uint8_t kind) {
    return kind == RL_UNLOCK || kind == RL_SHARED_UNLOCK;
}

/// The address of what early attempts read: whether the releases of this lock can come later.
static inline uintptr_t rl_missed_releases_of(uintptr_t lock) { return lock + 1; }

/// How a lock, a semaphore or a queue is available.
enum { RL_FREE_FOR_ONE = 1, RL_FREE_FOR_READERS = 2, RL_COUNTED = 4, RL_EMPTY = 8 };
/// The thread already holds the lock, as a reader.
enum { RL_SHARED_ALREADY = 16 };
/// A group: so many are in it that it makes no difference now who else comes or goes first; or the
/// last one is in it, and work follows.
enum { RL_MANY = 32, RL_LAST_ONE = 64 };

/// One effect of a step. The first is the one that its point announces; the others, such as
/// releases of locks, happen before the next point of its thread.
typedef struct {
    uintptr_t address;
    uintptr_t type;  // of the object, if the effect is one on its reference count
    uint8_t kind;
    uint8_t free_for;  // how the lock at the address was available before, RL_FREE_…
    uint32_t store;    // the number of the store that it makes or reads, if they are kept …
    uint64_t value;    // … a hash of the value that it replaces, or would replace
} rl_effect;

// MARK: - Kinds of steps

/// Whether a step of this kind changes nothing that another thread can observe.
static inline bool rl_only_reads(uint8_t kind) {
    const rl_kind_row *row = rl_row_of_kind(kind);
    return row != NULL ? row->does == RL_READS
                       : kind == RL_LOOK || kind == RL_LOAD || kind == RL_FAILED_EXCHANGE;
}

/// Whether such a step is progress, so that the thread cannot be spinning.
static inline bool rl_is_lasting(uint8_t kind) {
    const rl_kind_row *row = rl_row_of_kind(kind);
    return row != NULL && row->does == RL_LASTING;
}

/// Whether a step that announces this may depend on what another step does in the concurrency
/// runtime.
static inline bool rl_is_about_tasks(uint8_t kind) {
    return kind >= RL_ARRIVE && kind <= RL_SUSPENDED;
}

// MARK: - Are two steps dependent?

/// Whether a reader takes or releases a lock.
static inline bool rl_is_readers(uint8_t kind) {
    return kind == RL_SHARED_LOCK || kind == RL_TRY_SHARED_LOCK || kind == RL_SHARED_UNLOCK;
}

static inline bool rl_moves_time(uint8_t kind) {
    return kind == RL_ELAPSE || kind == RL_PASS_TIME || kind == RL_REACH_TIME;
}

/// Whether the order of two operations matters.
static inline bool rl_are_dependent(uint8_t kind, uintptr_t address, uint8_t other,
                                    uintptr_t other_address) {
    if (address != other_address) return false;
    // If the end of a task cancels others, that is an effect of its own
    // (rl_look_for_cancelled_children).
    const bool is_end = kind == RL_FINISH || other == RL_FINISH;
    const bool is_like_end =
        (kind == RL_FINISH || kind == RL_ASK) && (other == RL_FINISH || other == RL_ASK);
    if (is_end && is_like_end) return false;
    if (kind == RL_DROP && other == RL_DROP) return false;
    if ((kind == RL_COME || kind == RL_GO) && (other == RL_COME || other == RL_GO)) return false;
    if ((kind == RL_DELIVER && other == RL_RECEIVE) || (kind == RL_RECEIVE && other == RL_DELIVER))
        return false;
    if (kind == RL_FALL_ASLEEP) return rl_moves_time(other);
    if (other == RL_FALL_ASLEEP) return rl_moves_time(kind);
    if (kind == other && (kind == RL_PASS_TIME || kind == RL_REACH_TIME)) return false;
    // A reader that comes or goes leaves the lock as other readers need it.
    if (rl_is_readers(kind) && rl_is_readers(other)) return false;
    return !(rl_only_reads(kind) && rl_only_reads(other));
}

static inline bool rl_chooses_value(uint8_t kind) {
    return kind == RL_LOAD || kind == RL_FAILED_EXCHANGE;
}

/// What the order of two conflicting effects means.
typedef struct {
    bool comes_before;  // the first effect comes before the second one in each equivalent run
    bool is_race;       // the other order shows something else
} rl_conflict;

static inline rl_conflict rl_conflict_of(const rl_effect *first, const rl_effect *second) {
    const rl_conflict both = {.comes_before = true, .is_race = true};
    if (first->store == 0 || second->store == 0) return both;
    if (rl_chooses_value(first->kind)) return (rl_conflict){.is_race = true};
    if (!rl_chooses_value(second->kind)) return both;
    // To read something else is another choice. Only an exchange that succeeds has to come earlier.
    return (rl_conflict){
        .comes_before = first->store == second->store,
        .is_race = second->kind == RL_FAILED_EXCHANGE && first->value == second->value,
    };
}

/// Returns the first of a step's effects that conflicts with an effect of another step, or NULL.
static inline const rl_effect *rl_first_conflict(const rl_effect *first, const rl_effect *end,
                                                 const rl_effect *other) {
    for (const rl_effect *e = first; e < end; e++)
        if (rl_are_dependent(e->kind, e->address, other->kind, other->address)) return e;
    return NULL;
}

/// Whether what a later step waits for was available before the effect `before`.
static inline bool rl_was_free(const rl_effect *before, const rl_effect *later) {
    if (before->address != later->address) return true;
    switch (later->kind) {
        // An attempt that has failed could also come after the release.
        case RL_UNLOCK:
        case RL_SHARED_UNLOCK:
            return before->kind == RL_ATOMIC_READ || before->free_for & RL_FREE_FOR_ONE;
        case RL_LOCK:
            // Before a reader comes, the others may have left. But it may hold the lock already.
            if (rl_is_readers(before->kind) && before->kind != RL_SHARED_UNLOCK)
                return !(before->free_for & RL_SHARED_ALREADY);
            return before->free_for & RL_FREE_FOR_ONE;
        case RL_SHARED_LOCK:
            return before->free_for & RL_FREE_FOR_READERS;
        case RL_ACQUIRE:
        case RL_RECEIVE:
            return before->free_for & RL_COUNTED;
        case RL_AWAIT:
            return before->free_for & RL_EMPTY;
        default:
            return true;
    }
}

// MARK: - Reference counts

/// Steps at this place in the code change the count of an object of this type, or only read it.
typedef struct {
    uintptr_t pc, type;
    bool changes;
    int32_t most;  // references that a step removes; if it only reads: 1 if it asks whether there
                   // is exactly one
} rl_counting_place;

/// What earlier runs have shown about reference counts that matter, and about groups.
typedef struct rl_known_counts {
    const uintptr_t *types;  // of the objects
    size_t type_count;
    const rl_counting_place *places;
    size_t place_count;
    bool group_order_shows;  // see `rl_execution`
} rl_known_counts;

/// Whether objects of this type are observed.
static inline bool rl_is_of_interest(const rl_known_counts *known, uintptr_t type) {
    for (size_t i = 0; i < known->type_count; i++)
        if (known->types[i] == type) return true;
    return false;
}

/// Whether steps at this place may depend on reference counts.
static inline bool rl_counts_at(const rl_known_counts *known, uintptr_t pc) {
    for (size_t i = 0; i < known->place_count; i++)
        if (known->places[i].pc == pc) return true;
    return false;
}

/// Whether steps at a place are known to remove that many references.
static inline bool rl_counts_type_at(const rl_known_counts *known, rl_counting_place place) {
    for (size_t i = 0; i < known->place_count; i++) {
        const rl_counting_place *p = &known->places[i];
        if (p->pc == place.pc && p->type == place.type && p->changes == place.changes &&
            p->most >= place.most)
            return true;
    }
    return false;
}

/// Whether a step at this place may depend on a step that changes (RL_COUNT) or reads (RL_LOOK) the
/// count of an object of this type.
static inline bool rl_depends_on_count(const rl_known_counts *known, uintptr_t pc, uint8_t kind,
                                       uintptr_t type) {
    return rl_counts_type_at(known, (rl_counting_place){pc, type, true, 0}) ||
           (kind != RL_LOOK && rl_counts_type_at(known, (rl_counting_place){pc, type, false, 0}));
}

/// The same for a step with these effects.
static inline bool rl_touches_count(const rl_known_counts *known, uintptr_t pc,
                                    const rl_effect *first, const rl_effect *end) {
    for (const rl_effect *e = first; e < end; e++)
        if (e->kind >= RL_COUNT && rl_depends_on_count(known, pc, e->kind, e->type)) return true;
    return false;
}

/// Whether a step at this place depends on one that has just removed references to an object of
/// this type, and left so many. It does if it would remove the last one, and if it looks for an
/// object that no longer exists.
static inline bool rl_depends_on_drop(const rl_known_counts *known, uintptr_t pc, int64_t left,
                                      uintptr_t type) {
    const int32_t all = left > INT32_MAX ? INT32_MAX : left < 0 ? 0 : (int32_t)left;
    return rl_counts_type_at(known, (rl_counting_place){pc, type, true, all}) ||
           (left <= 0 && rl_counts_type_at(known, (rl_counting_place){pc, type, false, 0}));
}

/// Whether a step at this place asks whether there is exactly one reference to an object of this
/// type. Whatever changes the count may change the answer.
static inline bool rl_asks_at(const rl_known_counts *known, uintptr_t pc, uintptr_t type) {
    return rl_counts_type_at(known, (rl_counting_place){pc, type, false, 1});
}

// MARK: - What remains asleep after a step?

/// The next step of a thread in the sleep set. It counts as the kind that it was when executed: an
/// exchange that fails has only read.
typedef struct {
    uintptr_t address;
    uint8_t kind;
} rl_sleeper;

/// Returns the threads that remain in the sleep set after an operation: those whose steps do not
/// depend on it.
///
/// - `sleepers`: the next steps of the threads in `sleeping`, by thread.
/// - `in_runtime`: the threads whose steps have unannounced effects in the concurrency runtime.
/// - `is_in_runtime`: whether this operation is such an effect.
static inline rl_thread_set rl_still_asleep(rl_thread_set sleeping, const rl_sleeper *sleepers,
                                            rl_thread_set in_runtime, uint8_t kind,
                                            uintptr_t address, bool is_in_runtime) {
    // Of such a thread's effects the kinds are known, but not the addresses: these differ between
    // runs.
    if (is_in_runtime || rl_is_about_tasks(kind)) sleeping &= ~in_runtime;
    for (rl_thread_set rest = sleeping; rest; rest &= rest - 1) {
        const int thread = __builtin_ctz(rest);
        const rl_sleeper *s = &sleepers[thread];
        if (rl_are_dependent(kind, address, s->kind, s->address)) sleeping &= ~(1u << thread);
    }
    return sleeping;
}

/// The same for threads of which an attempt that fails is in the sleep set. A release leaves it
/// there: the attempt could also come right before the release.
static inline rl_thread_set rl_still_asleep_early(rl_thread_set sleeping,
                                                  const rl_sleeper *sleepers, uint8_t kind,
                                                  uintptr_t address) {
    if (rl_is_release(kind)) return sleeping;
    for (rl_thread_set rest = sleeping; rest; rest &= rest - 1) {
        const int thread = __builtin_ctz(rest);
        if (rl_are_dependent(kind, address, RL_ATOMIC_READ, sleepers[thread].address))
            sleeping &= ~(1u << thread);
    }
    return sleeping;
}
