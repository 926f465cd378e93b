// The entry points of Dispatch for running work on a queue, at once, repeatedly, or later. Swift's
// Dispatch module calls these functions by name.

#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "Primitives/thread.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_QUEUES

// MARK: - Running work on a queue, and waiting for it

/// Work for the main queue runs on the main thread, even if another thread waits for it.
static void wait_for_main_queue(dispatch_object queue, call c, rl_place place) {
    item *i = rl_make_item(queue, c, place);
    i->is_waited_for = true;
    i->is_known = rl_in_hand.is_known;
    rl_count_unfinished(i, 1);
    rl_made(i);
    rl_send_item(i, place);
    rl_point(&rl_await_work, i, place);
}

/// Returns false if the real function must run the work.
static bool has_run_on_queue(dispatch_object queue, call c, bool barrier, circumstance now,
                             rl_place place) {
    if (!is_handled(now)) return false;
    // No other thread runs the work that was sent to queues between two runs.
    while (now == BETWEEN_RUNS && rl_do_waiting_work()) {}
    if (now == BETWEEN_RUNS)
        rl_call_on_queue(queue, c, barrier);
    else if (rl_kind_of_queue(queue) == MAIN && !rl_stands_for_main_thread())
        wait_for_main_queue(queue, c, place);
    else
        rl_run_on_queue(queue, c, barrier, NULL, place);
    return true;
}

static bool has_run_block_on_queue(dispatch_object queue, void *block, bool barrier,
                                   circumstance now, rl_place place, rl_place caller) {
    if (now == FOREIGN) return false;
    const rl_work_in_hand before = rl_in_hand;
    rl_in_hand = (rl_work_in_hand){block, place.pc, rl_passes_work_item(block, caller)};
    const call c = {rl_call_block, block};
    barrier |= rl_is_barrier(block);
    const bool has_run = has_run_on_queue(queue, c, barrier, now, place);
    rl_in_hand = before;
    return has_run;
}

#define RUNS_BLOCK(name, barrier)                                                    \
    void name(dispatch_object queue, void *work) {                                   \
        if (rl_is_observing)                                                         \
            return rl_observe_on_queue(queue, (call){rl_call_block, work}, barrier); \
        CALLED_AT(place, now);                                                       \
        if (!has_run_block_on_queue(queue, work, barrier, now, place, RL_CALLER))    \
            REAL(name)(queue, work);                                                 \
    }
RUNS_BLOCK(dispatch_sync, false)
RUNS_BLOCK(dispatch_barrier_sync, true)

#define RUNS(name, barrier)                                                                     \
    void name(dispatch_object queue, void *context, function work) {                            \
        if (rl_is_observing) return rl_observe_on_queue(queue, (call){work, context}, barrier); \
        CALLED_AT(place, now);                                                                  \
        if (!has_run_on_queue(queue, (call){work, context}, barrier, now, place))               \
            REAL(name)(queue, context, work);                                                   \
    }
RUNS(dispatch_sync_f, false)
RUNS(dispatch_barrier_sync_f, true)

// MARK: - Repeated work

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
    rl_announce_start(r->place);
    rl_start_team(r, r->count, do_once);
    rl_point(&rl_join, r, r->place);
}

/// Returns false if the real function must run the iterations.
static bool has_repeated(dispatch_object queue, repetition r, circumstance now) {
    if (now == BETWEEN_RUNS) do_in_turn(&r);
    if (now != BY_PROGRAM) return now == BETWEEN_RUNS;
    const queue_kind kind = queue ? rl_kind_of_queue(queue) : GLOBAL;
    if (kind == GLOBAL)
        do_at_once(&r);
    else
        has_run_on_queue(queue, (call){kind == CONCURRENT ? do_at_once : do_in_turn, &r}, false,
                         now, r.place);
    return true;
}

void dispatch_apply(size_t count, dispatch_object queue, void *work) {
    CALLED_AT(place, now);
    if (!has_repeated(queue, (repetition){count, call_block_with, work, place}, now))
        REAL(dispatch_apply)(count, queue, work);
}

void dispatch_apply_f(size_t count, dispatch_object queue, void *context,
                      void (*work)(void *context, size_t number)) {
    CALLED_AT(place, now);
    if (!has_repeated(queue, (repetition){count, work, context, place}, now))
        REAL(dispatch_apply_f)(count, queue, context, work);
}

// MARK: - Sending work

void dispatch_after(uint64_t when, dispatch_object queue, void *work) {
    rl_place place = RL_CALLER;
    item *i = rl_sent_work(queue, (call){rl_call_block, work}, false, &place);
    if (!i) return REAL(dispatch_after)(when, queue, work);
    rl_send_item_later(when, i, place);
}

void dispatch_after_f(uint64_t when, dispatch_object queue, void *context, function work) {
    if (rl_delayed_job_passes(when, context, work)) return;
    rl_place place = RL_CALLER;
    item *i = rl_sent_work(queue, (call){work, context}, false, &place);
    if (!i) return REAL(dispatch_after_f)(when, queue, context, work);
    rl_send_item_later(when, i, place);
}

/// Returns false if the real function must send the work.
static bool has_sent(dispatch_object queue, call c, bool barrier, rl_place place) {
    item *i = rl_sent_work(queue, c, barrier, &place);
    if (i) rl_send_item(i, place);
    return i;
}

void dispatch_async(dispatch_object queue, void *work) {
    if (!has_sent(queue, (call){rl_call_block, work}, false, RL_CALLER))
        REAL(dispatch_async)(queue, work);
}

void dispatch_barrier_async(dispatch_object queue, void *work) {
    if (!has_sent(queue, (call){rl_call_block, work}, true, RL_CALLER))
        REAL(dispatch_barrier_async)(queue, work);
}

void dispatch_async_f(dispatch_object queue, void *context, function work) {
    if (rl_job_passes(queue, context, work, RL_CALLER)) return;
    if (!has_sent(queue, (call){work, context}, false, RL_CALLER))
        REAL(dispatch_async_f)(queue, context, work);
}

void dispatch_barrier_async_f(dispatch_object queue, void *context, function work) {
    if (!has_sent(queue, (call){work, context}, true, RL_CALLER))
        REAL(dispatch_barrier_async_f)(queue, context, work);
}

#endif
