// Semaphores: their count, and the entry points of Dispatch, which Swift's Dispatch module calls by
// name.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/semaphore.h"

#include "Model/happens_before.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Scheduler/operation.h"
#include "Scheduler/outside.h"
#include "Scheduler/points.h"
#include "Scheduler/runs.h"
#include "State/shadow.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_SEMAPHORES

// MARK: - The count

static bool has_count(const thread *t) { return t->waits_for->count > 0; }

static void decrement(int index, thread *t, uint32_t step) {
    (void)index, (void)step;
    t->waits_for->count--;
    rl_join_clock(&t->clock, &t->waits_for->released);
}

static void increment(int index, thread *t, uint32_t step) {
    (void)step;
    lock *semaphore = rl_lock_at(t->address);
    semaphore->count++;
    rl_join_clock(&semaphore->released, &t->clock);
    rl_tick(index);
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

bool rl_knows_count(const void *semaphore) { return rl_known_lock((uintptr_t)semaphore) != NULL; }

void rl_set_count(const void *semaphore, int64_t count, void (*signal)(void *semaphore)) {
    lock *l = rl_lock_at((uintptr_t)semaphore);
    l->count = l->count_at_first = count;
    l->signal = signal;
}

/// Signals the real semaphore as often as the threads did during the completed run.
static void settle(const lock *l) {
    for (int64_t n = l->count_at_first; l->signal && n < l->count; n++)
        l->signal((void *)l->address);
}

static void settle_all(bool is_complete) {
    if (is_complete) rl_for_all_locks(settle);
}

static rl_service service = {.threads_have_ended = settle_all};
RL_SERVICE(service)

// MARK: - Semaphores of Dispatch

typedef intptr_t (*semaphore_wait)(dispatch_object, uint64_t);
typedef intptr_t (*semaphore_signal)(dispatch_object);
REAL(semaphore_wait, real_wait, "dispatch_semaphore_wait")
REAL(semaphore_signal, real_signal, "dispatch_semaphore_signal")

/// The number of external references to an object, minus one.
static int32_t references(dispatch_object object) { return ((const int32_t *)object)[3]; }

/// Remembers with which count a semaphore was created: it must not be freed with a lower one.
static void note_made_with(const void *semaphore, int64_t count) {
    if (!me) return;
    cell *c = rl_cell_at((uintptr_t)semaphore);
    c->is_semaphore = true;
    c->made_with = count;
}

typedef dispatch_object (*semaphore_create)(intptr_t);
REAL(semaphore_create, real_semaphore_create, "dispatch_semaphore_create")

dispatch_object dispatch_semaphore_create(intptr_t count) {
    dispatch_object semaphore = real_semaphore_create()(count);
    rl_made(semaphore);
    if (semaphore && references(semaphore) == 0) note_made_with(semaphore, count);
    return semaphore;
}

static void signal_once(void *semaphore) { real_signal()(semaphore); }

/// During a run only the engine keeps the count. A real semaphore left below its initial count,
/// after a deadlock, could not be freed. The count starts from that of the real semaphore, which is
/// read by decrementing it to 0 and restoring it.
static void make_counted(dispatch_object semaphore) {
    if (rl_knows_count(semaphore)) return;
    int64_t count = 0;
    while (real_wait()(semaphore, NOW) == 0) count++;
    for (int64_t i = 0; i < count; i++) real_signal()(semaphore);
    rl_set_count(semaphore, count, signal_once);
}

/// Runs work that was sent to queues and not yet done: it may signal the semaphore.
static intptr_t wait_between_runs(dispatch_object semaphore, uint64_t timeout, rl_place place) {
    while (rl_is_between_runs_here()) {
        if (real_wait()(semaphore, NOW) == 0) return 0;
        if (!rl_do_waiting_work()) break;
    }
    if (timeout == FOREVER)
        rl_judge_waits_forever(&rl_acquire, semaphore, place);
    else if (rl_judge_waits(&rl_acquire, semaphore, place))
        return 1;
    return real_wait()(semaphore, timeout);
}

intptr_t dispatch_semaphore_wait(dispatch_object semaphore, uint64_t timeout) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return wait_between_runs(semaphore, timeout, place);
    make_counted(semaphore);
    uint32_t step = timeout == FOREVER       ? rl_point(&rl_acquire, semaphore, place)
                    : rl_has_passed(timeout) ? rl_point(&rl_try_to_acquire, semaphore, place)
                                             : rl_timed_point(&rl_acquire, semaphore, place);
    return rl_got_it(step) ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_object semaphore) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_signal()(semaphore);
    make_counted(semaphore);
    rl_point(&rl_signal, semaphore, place);
    return 0;
}

static void note_freed(const void *semaphore, rl_place place) {
    if (!me || me->fate != STAYS) return;
    const lock *l = rl_known_lock((uintptr_t)semaphore);
    if (!l || !l->signal) return;
    const cell *c = rl_cell_at((uintptr_t)semaphore);
    if (!c->is_semaphore || l->count >= c->made_with) return;
    rl_misuse misuse = rl_misuse_at(RL_FREED_IN_USE, place);
    misuse.count = l->count;
    misuse.made_with = c->made_with;
    rl_add_misuse(misuse);
}

typedef void (*release_object)(dispatch_object);
REAL(release_object, real_release, "dispatch_release")

void dispatch_release(dispatch_object object) {
    rl_place place = RL_CALLER;
    if (!rl_active || !rl_is_call_of_program(&place)) place.pc = 0;
    if (references(object) == 0) note_freed(object, place);
    real_release()(object);
}

#endif
