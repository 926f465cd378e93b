// The entry points of Dispatch for semaphores and for running work on a queue. Swift's Dispatch
// module calls these functions by name.
//
// Linux only, where the program's definitions take precedence; see hook_threads.c.

#include "Hooks/dispatch.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Platform/memory.h"
#include "Scheduler/added_threads.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Scheduler/points.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdlib.h>

// MARK: - Semaphores

typedef intptr_t (*semaphore_wait)(dispatch_object, uint64_t);
typedef intptr_t (*semaphore_signal)(dispatch_object);
REAL(semaphore_wait, real_wait, "dispatch_semaphore_wait")
REAL(semaphore_signal, real_signal, "dispatch_semaphore_signal")

/// The number of external references to an object, minus one.
static int32_t references(dispatch_object object) { return ((const int32_t *)object)[3]; }

typedef dispatch_object (*semaphore_create)(intptr_t);
REAL(semaphore_create, real_semaphore_create, "dispatch_semaphore_create")

dispatch_object dispatch_semaphore_create(intptr_t count) {
    dispatch_object semaphore = real_semaphore_create()(count);
    rl_made(semaphore);
    if (semaphore && references(semaphore) == 0) rl_made_semaphore(semaphore, count);
    return semaphore;
}

static void signal_once(void *semaphore) { real_signal()(semaphore); }

/// During a run only the engine keeps the count. A real semaphore left below its initial count,
/// after a deadlock, could not be freed. The count starts from that of the real semaphore, which is
/// read by decrementing it to 0 and restoring it.
static void make_counted(dispatch_object semaphore) {
    if (rl_is_counted(semaphore)) return;
    int64_t count = 0;
    while (real_wait()(semaphore, NOW) == 0) count++;
    for (int64_t i = 0; i < count; i++) real_signal()(semaphore);
    rl_set_signaller(signal_once);
    rl_count(semaphore, count);
}

/// Runs work that was sent to queues and not yet done: it may signal the semaphore.
static intptr_t wait_between_runs(dispatch_object semaphore, uint64_t timeout) {
    while (rl_is_between_runs_here()) {
        if (real_wait()(semaphore, NOW) == 0) return 0;
        if (!rl_do_waiting_work()) break;
    }
    return real_wait()(semaphore, timeout);
}

intptr_t dispatch_semaphore_wait(dispatch_object semaphore, uint64_t timeout) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return wait_between_runs(semaphore, timeout);
    make_counted(semaphore);
    uint32_t step = timeout == FOREVER    ? rl_point(RL_ACQUIRE, semaphore, place)
                    : rl_has_passed(timeout) ? rl_point(RL_TRY_ACQUIRE, semaphore, place)
                                          : rl_timed_point(RL_ACQUIRE, semaphore, place);
    return rl_got_it(step) ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_object semaphore) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_signal()(semaphore);
    make_counted(semaphore);
    rl_point(RL_SIGNAL, semaphore, place);
    return 0;
}

typedef void (*release_object)(dispatch_object);
REAL(release_object, real_release, "dispatch_release")

void dispatch_release(dispatch_object object) {
    rl_place place = RL_CALLER;
    if (!rl_active || !rl_is_call_of_program(&place)) place.pc = 0;
    if (references(object) == 0) rl_frees_semaphore(object, place);
    real_release()(object);
}

// MARK: - Running work on a queue, and waiting for it

REAL(call_on, real_sync_f, "dispatch_sync_f")
REAL(call_on, real_barrier_sync_f, "dispatch_barrier_sync_f")
REAL(block_on, real_sync, "dispatch_sync")
REAL(block_on, real_barrier_sync, "dispatch_barrier_sync")

/// Work for the main queue runs on the main thread, even if another thread waits for it.
static void wait_for_main_queue(dispatch_object queue, call c, rl_place place) {
    item *i = rl_make_item(queue, c, place);
    i->is_waited_for = true;
    i->is_known = rl_in_hand().is_known;
    rl_count_unfinished(i, 1);
    rl_made(i);
    rl_send_item(i, place);
    rl_point(RL_AWAIT, i, place);
}

/// Runs the work that was sent to queues earlier: between two runs no other thread does. Returns
/// whether `c` was run as well.
static bool is_done_between_runs(dispatch_object queue, call c) {
    if (!rl_is_between_runs_here()) return false;
    while (rl_do_waiting_work()) {}
    if (rl_kind_of_queue(queue) != MAIN) return false;
    const bool before = rl_stand_for_main_thread(true);
    c.work(c.context);
    rl_stand_for_main_thread(before);
    return true;
}

/// Returns false if the real function must run the work.
static bool has_run_on_queue(dispatch_object queue, call c, bool barrier, bool is_listened_to,
                             rl_place place) {
    if (!is_listened_to) return is_done_between_runs(queue, c);
    if (rl_kind_of_queue(queue) == MAIN && !rl_stands_for_main_thread())
        wait_for_main_queue(queue, c, place);
    else
        rl_run_on_queue(queue, c, barrier, NULL, place);
    return true;
}

static bool has_run_block_on_queue(dispatch_object queue, void *block, bool barrier,
                                   bool is_listened_to, rl_place place, rl_place caller) {
    if (!rl_is_of_lab()) return false;
    const rl_work_in_hand before =
        rl_take_in_hand((rl_work_in_hand){block, place.pc, rl_passes_work_item(block, caller)});
    const call c = {rl_call_block, block};
    const bool has_run = has_run_on_queue(queue, c, barrier, is_listened_to, place);
    rl_take_in_hand(before);
    return has_run;
}

void dispatch_sync(dispatch_object queue, void *work) {
    if (rl_is_observing) return rl_observe_on_queue(queue, (call){rl_call_block, work}, false);
    IS_LISTENED_TO(place);
    const bool barrier = is_listened_to && rl_is_barrier(work);
    if (!has_run_block_on_queue(queue, work, barrier, is_listened_to, place, RL_CALLER))
        real_sync()(queue, work);
}

void dispatch_barrier_sync(dispatch_object queue, void *work) {
    if (rl_is_observing) return rl_observe_on_queue(queue, (call){rl_call_block, work}, true);
    IS_LISTENED_TO(place);
    if (!has_run_block_on_queue(queue, work, true, is_listened_to, place, RL_CALLER))
        real_barrier_sync()(queue, work);
}

void dispatch_sync_f(dispatch_object queue, void *context, function work) {
    if (rl_is_observing) return rl_observe_on_queue(queue, (call){work, context}, false);
    IS_LISTENED_TO(place);
    if (!has_run_on_queue(queue, (call){work, context}, false, is_listened_to, place))
        real_sync_f()(queue, context, work);
}

void dispatch_barrier_sync_f(dispatch_object queue, void *context, function work) {
    if (rl_is_observing) return rl_observe_on_queue(queue, (call){work, context}, true);
    IS_LISTENED_TO(place);
    if (!has_run_on_queue(queue, (call){work, context}, true, is_listened_to, place))
        real_barrier_sync_f()(queue, context, work);
}

// MARK: - Repeated work

typedef void (*apply_on)(size_t, dispatch_object, void *);
typedef void (*apply_f_on)(size_t, dispatch_object, void *, void (*)(void *, size_t));
REAL(apply_on, real_apply, "dispatch_apply")
REAL(apply_f_on, real_apply_f, "dispatch_apply_f")

/// A block that takes a number.
static void call_block_with(void *context, size_t number) {
    ((void (*)(void *, size_t))((block *)context)->invoke)(context, number);
}

typedef struct {
    size_t count;
    void (*work)(void *context, size_t number);
    void *context;
    rl_place place;
} repetition;

static void do_once(const void *team, size_t number) {
    const repetition *r = team;
    r->work(r->context, number);
}

static void do_in_turn(void *context) {
    const repetition *r = context;
    for (size_t number = 0; number < r->count; number++) do_once(r, number);
}

/// Runs each iteration on a thread of its own: any two may run at the same time, and nothing orders
/// them.
static void do_at_once(void *context) {
    const repetition *r = context;
    if (r->count < 2) return do_in_turn(context);
    // One address for all starts: see pthread_create.
    rl_point(RL_START, (const void *)rl_start_thread, r->place);
    rl_start_team(r, r->count, do_once);
    rl_point(RL_JOIN, r, r->place);
}

/// Returns false if the real function must run the iterations.
static bool has_repeated(dispatch_object queue, repetition r, bool is_listened_to) {
    if (!is_listened_to) {
        if (rl_is_between_runs_here()) do_in_turn(&r);
        return rl_is_between_runs_here();
    }
    const queue_kind kind = queue ? rl_kind_of_queue(queue) : GLOBAL;
    if (kind == GLOBAL)
        do_at_once(&r);
    else
        has_run_on_queue(queue, (call){kind == CONCURRENT ? do_at_once : do_in_turn, &r}, false,
                         true, r.place);
    return true;
}

void dispatch_apply(size_t count, dispatch_object queue, void *work) {
    IS_LISTENED_TO(place);
    if (!has_repeated(queue, (repetition){count, call_block_with, work, place}, is_listened_to))
        real_apply()(count, queue, work);
}

void dispatch_apply_f(size_t count, dispatch_object queue, void *context,
                      void (*work)(void *context, size_t number)) {
    IS_LISTENED_TO(place);
    if (!has_repeated(queue, (repetition){count, work, context, place}, is_listened_to))
        real_apply_f()(count, queue, context, work);
}

#endif
