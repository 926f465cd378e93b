// Semaphores: their count, and the entry points of Dispatch, which Swift's Dispatch module calls by
// name.

#include "Primitives/semaphore.h"

#include "Model/happens_before.h"
#include "Model/misuse.h"
#include "Platform/memory.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "Scheduler/outside.h"
#include "State/shadow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_SEMAPHORES

// MARK: - The count

static bool has_count(const thread *t) { return t->waits_for->count > 0; }

/// The signals that no wait has taken yet, and for how long threads had slept before each.
static struct {
    struct {
        const lock *of;
        uint64_t slept;
    } * all;
    size_t count, capacity;
} signals;

RL_OF_RUN(signals)

/// A wait does not last until the last signal, but until the first that is left for it.
static void take_first_signal(thread *t) {
    int64_t left = 0;
    size_t first = 0;
    for (size_t i = 0; i < signals.count; i++) {
        if (signals.all[i].of != t->waits_for) continue;
        if (left++ == 0 || signals.all[i].slept < signals.all[first].slept) first = i;
    }
    // The semaphore was made with more than the signals have added.
    if (left <= t->waits_for->count) return;
    if (t->clock.slept < signals.all[first].slept) t->clock.slept = signals.all[first].slept;
    signals.all[first] = signals.all[--signals.count];
}

static void decrement(thread *t) {
    t->waits_for->count--;
    const uint64_t slept = t->clock.slept;
    rl_join_clock(&t->clock, &t->waits_for->released);
    t->clock.slept = slept;
    take_first_signal(t);
}

static void increment(thread *t) {
    lock *semaphore = rl_lock_at(t->address);
    semaphore->count++;
    MAKE_ROOM(signals.all, signals.count, signals.capacity, 16);
    signals.all[signals.count].of = semaphore;
    signals.all[signals.count++].slept = t->clock.slept;
    rl_join_clock(&semaphore->released, &t->clock);
    rl_tick(me->thread);
}

const rl_operation rl_acquire = {
    .kind = RL_ACQUIRE,
    .has_record = true,
    .is_available = has_count,
    .carry_out = decrement,
    .help_from_outside =
        "waits for a semaphore that was made outside of the scenario, where it may be "
        "signalled",
};
const rl_operation rl_try_to_acquire = {
    .kind = RL_TRY_ACQUIRE,
    .has_record = true,
    .is_attempt = true,
    .is_available = has_count,
    .carry_out = decrement,
};
const rl_operation rl_signal = {.kind = RL_SIGNAL, .carry_out = increment};

bool rl_knows_count(const void *semaphore) {
    const lock *l = rl_known_lock((uintptr_t)semaphore);
    return l && l->change;
}

void rl_set_count(const void *semaphore, int64_t count, void (*change)(void *, int64_t by)) {
    lock *l = rl_lock_at((uintptr_t)semaphore);
    l->count = l->count_at_first = count;
    l->change = change;
    l->taken = 0;
}

/// Gives the count to the real semaphore. Code that judges the run may use that.
static void settle(lock *l) {
    if (!l->change) return;
    if (l->count < l->count_at_first) l->taken = l->count_at_first - l->count;
    l->change((void *)l->address, l->count - l->count_at_first);
    l->count_at_first = l->count;
}

static void settle_all(bool is_complete) {
    if (is_complete) rl_for_all_locks(settle);
}

// MARK: - Semaphores of Dispatch

intptr_t dispatch_semaphore_wait(dispatch_object semaphore, uint64_t timeout);
intptr_t dispatch_semaphore_signal(dispatch_object semaphore);

/// The number of external references to an object, minus one.
static int32_t references(dispatch_object object) { return ((const int32_t *)object)[3]; }

/// Remembers with which count a semaphore was created: it must not be freed with a lower one.
static void note_made_with(const void *semaphore, int64_t count) {
    if (!me) return;
    cell *c = rl_cell_at((uintptr_t)semaphore);
    c->is_semaphore = true;
    c->made_with = count;
}

dispatch_object dispatch_semaphore_create(intptr_t count) {
    dispatch_object semaphore = REAL(dispatch_semaphore_create)(count);
    rl_made(semaphore);
    if (semaphore && references(semaphore) == 0) note_made_with(semaphore, count);
    return semaphore;
}

static void change(void *semaphore, int64_t by) {
    for (; by > 0; by--) REAL(dispatch_semaphore_signal)(semaphore);
    for (; by < 0; by++) REAL(dispatch_semaphore_wait)(semaphore, NOW);
}

/// A semaphore of Dispatch cannot be freed below its initial count.
static void give_back(lock *l) {
    if (l->change == change) change((void *)l->address, l->taken);
    l->taken = 0;
}

static void give_all_back(void) { rl_for_all_locks(give_back); }

RL_SERVICE(.threads_have_ended = settle_all, .run_is_over = give_all_back)

/// Takes all that it can, and restores it.
static int64_t real_count(dispatch_object semaphore) {
    int64_t count = 0;
    while (REAL(dispatch_semaphore_wait)(semaphore, NOW) == 0) count++;
    change(semaphore, count);
    return count;
}

/// During a run only the engine keeps the count. A real semaphore left below its initial count,
/// after a deadlock, could not be freed.
static void make_counted(dispatch_object semaphore) {
    if (!rl_knows_count(semaphore)) rl_set_count(semaphore, real_count(semaphore), change);
}

/// Runs work that was sent to queues and not yet done, until it signals the semaphore.
static bool has_waited_between_runs(dispatch_object semaphore) {
    do {
        if (REAL(dispatch_semaphore_wait)(semaphore, NOW) == 0) return true;
    } while (rl_do_waiting_work());
    return false;
}

intptr_t dispatch_semaphore_wait(dispatch_object semaphore, uint64_t timeout) {
    CALLED_AT(place, now);
    if (now == BETWEEN_RUNS && has_waited_between_runs(semaphore)) return 0;
    if (now != BY_PROGRAM) return REAL(dispatch_semaphore_wait)(semaphore, rl_real_time(timeout));
    make_counted(semaphore);
    uint32_t step = timeout == FOREVER ? rl_point(&rl_acquire, semaphore, place)
                    : rl_has_passed(timeout)
                        ? rl_point(&rl_try_to_acquire, semaphore, place)
                        : rl_timed_point(&rl_acquire, semaphore, place, rl_model_time(timeout));
    return rl_got_it(step) ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_object semaphore) {
    CALLED_AT(place, now);
    if (now != BY_PROGRAM) return REAL(dispatch_semaphore_signal)(semaphore);
    make_counted(semaphore);
    rl_point(&rl_signal, semaphore, place);
    return 0;
}

static void note_freed(dispatch_object semaphore, const lock *l, rl_place place) {
    if (me->fate != STAYS) return;
    const cell *c = rl_cell_at((uintptr_t)semaphore);
    const bool is_settled = rl_is_between_runs_here() && l->count == l->count_at_first;
    const int64_t count = is_settled ? real_count(semaphore) : l->count;
    if (!c->is_semaphore || count >= c->made_with) return;
    rl_misuse misuse = rl_misuse_at(RL_FREED_IN_USE, place);
    misuse.count = count;
    misuse.made_with = c->made_with;
    rl_add_misuse(misuse);
}

void dispatch_release(dispatch_object object) {
    rl_place place = RL_CALLER;
    if (rl_circumstance(NO_FAMILY, &place) != BY_PROGRAM) place.pc = 0;
    lock *l = me && references(object) == 0 ? rl_known_lock((uintptr_t)object) : NULL;
    if (l && l->change == change) {
        note_freed(object, l, place);
        give_back(l);
        l->change = NULL;
    }
    REAL(dispatch_release)(object);
}

#endif
