// Sending work to a queue of Dispatch, with `async`.
//
// The work is done by a thread that the lab starts for the queue, and that waits for more until all
// others have ended: one for a serial queue, as many as it takes for a concurrent one. Each piece of
// work runs as if somebody waited for it (listen_dispatch.c), so that it keeps others out who do.
//
// Only where the program's definitions come before all others, which is Linux; see listen_threads.c.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "engine.h"

#if !defined(RL_UNDER_THREAD_SANITIZER) && defined(__linux__)

#include "dispatch.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef intptr_t (*semaphore_wait)(dispatch_object, uint64_t);
typedef intptr_t (*semaphore_signal)(dispatch_object);
REAL(semaphore_wait, real_wait, "dispatch_semaphore_wait")
REAL(semaphore_signal, real_signal, "dispatch_semaphore_signal")

extern dispatch_object dispatch_semaphore_create(intptr_t count);
extern void dispatch_retain(dispatch_object object);
extern void dispatch_release(dispatch_object object);

#define FOREVER (~0ull)

typedef void (*async_on)(dispatch_object queue, void *work);
typedef void (*async_f_on)(dispatch_object queue, void *context, function work);
typedef void *(*block_copy)(const void *block);
typedef void (*block_release)(const void *block);
REAL(async_on, real_async, "dispatch_async")
REAL(async_on, real_barrier_async, "dispatch_barrier_async")
REAL(async_f_on, real_async_f, "dispatch_async_f")
REAL(async_f_on, real_barrier_async_f, "dispatch_barrier_async_f")
REAL(block_copy, real_block_copy, "_Block_copy")
REAL(block_release, real_block_release, "_Block_release")

// While a scenario is set up nobody schedules. Work that is sent to a queue then goes the usual way,
// and has to be done before the run begins, or it would go on beside it.

typedef struct queue_of_set_up {
    _Atomic(dispatch_object) queue;  // NULL: free for the next queue
    _Atomic bool has_work;
    struct queue_of_set_up *next;
} queue_of_set_up;

/// Only the thread that sets up adds to this list. No element is ever freed: other threads walk it.
static _Atomic(queue_of_set_up *) queues_of_set_up;

static queue_of_set_up *find_queue_of_set_up(dispatch_object queue) {
    queue_of_set_up *q = atomic_load(&queues_of_set_up);
    while (q && atomic_load(&q->queue) != queue) q = q->next;
    return q;
}

static void add_queue_of_set_up(dispatch_object queue) {
    queue_of_set_up *q = find_queue_of_set_up(NULL);
    if (!q) {
        q = calloc(1, sizeof *q);
        if (!q) abort();
        q->next = atomic_load(&queues_of_set_up);
        atomic_store(&queues_of_set_up, q);
    }
    dispatch_retain(queue);
    atomic_store(&q->has_work, true);
    atomic_store(&q->queue, queue);
}

/// Of the work that such work sends in its turn, what goes to the same queues is waited for.
static void remember_for_set_up(dispatch_object queue) {
    queue_of_set_up *known = find_queue_of_set_up(queue);
    if (known) {
        atomic_store(&known->has_work, true);
        return;
    }
    const queue_kind kind = rl_kind_of_queue(queue);
    if (rl_is_setting_up_here() && kind != MAIN && kind != GLOBAL) add_queue_of_set_up(queue);
}

static void signal_end(void *end) { real_signal()(end); }

/// Waits behind everything that has been sent to the queue.
static void wait_for_end_of(dispatch_object queue) {
    dispatch_object end = dispatch_semaphore_create(0);
    real_barrier_async_f()(queue, end, signal_end);
    real_wait()(end, FOREVER);
    dispatch_release(end);
}

void rl_finish_work_of_set_up(void) {
    queue_of_set_up *first = atomic_load(&queues_of_set_up);
    for (bool is_done = false; !is_done;) {
        is_done = true;
        for (queue_of_set_up *q = first; q; q = q->next) {
            if (!atomic_exchange(&q->has_work, false)) continue;
            is_done = false;
            wait_for_end_of(atomic_load(&q->queue));
        }
    }
    for (queue_of_set_up *q = first; q; q = q->next) {
        dispatch_object queue = atomic_exchange(&q->queue, NULL);
        if (queue) dispatch_release(queue);
    }
}

typedef struct item {
    struct item *next;
    dispatch_object queue;
    call call;
    bool is_block, barrier;
    uintptr_t pc;               // from where it was sent
} item;

/// What one thread does in one run for a queue: all of it for a serial queue, one piece after the other
/// for a concurrent one.
typedef struct {
    dispatch_object queue;
    item *first, *last;
    bool is_started, is_free;
    rl_moment end;              // of what it has done, if it is free
} lane;

static lane lanes[RL_MAX_THREADS];
static int lane_count;
static uint64_t run_of_lanes;

static void discard_item(item *i) {
    if (i->is_block) real_block_release()(i->call.context);
    dispatch_release(i->queue);
    free(i);
}

/// What a run has left undone, because it was given up, is of no use to the next one.
static void begin_lanes_of_run(void) {
    if (run_of_lanes == rl_run_number()) return;
    run_of_lanes = rl_run_number();
    for (int k = 0; k < lane_count; k++)
        for (item *i = lanes[k].first, *next; i; i = next) {
            next = i->next;
            discard_item(i);
        }
    lane_count = 0;
}

/// Of the threads that work for a concurrent queue, one of which the sender knows that it has nothing
/// to do. Whether another one has come to its end is a matter of who goes first, and no step shows it;
/// and if it did both pieces of work, that would order them where nothing else does.
static bool can_take_more(const lane *l, bool is_serial) {
    return is_serial || (l->is_free && rl_knows(l->end));
}

static lane *lane_of(dispatch_object queue, bool is_serial) {
    for (int k = 0; k < lane_count; k++)
        if (lanes[k].queue == queue && can_take_more(&lanes[k], is_serial)) return &lanes[k];
    if (lane_count == RL_MAX_THREADS) rl_end_run_with_too_many_threads();
    lanes[lane_count] = (lane){.queue = queue};
    return &lanes[lane_count++];
}

static item *take_item(lane *l) {
    item *i = l->first;
    l->first = i->next;
    if (!l->first) l->last = NULL;
    return i;
}

static void *work_on_lane(void *argument) {
    lane *l = argument;
    while (rl_await(l)) {
        item *i = take_item(l);
        rl_received(i);
        rl_place place = RL_CALLER;
        place.pc = i->pc;
        rl_run_on_queue(l->queue, i->call, i->barrier, i, place);
        discard_item(i);
        l->end = rl_end_of_work(l->queue);
        l->is_free = true;
    }
    return NULL;
}

static void start_worker(lane *l) {
    l->is_started = true;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    if (rl_start_thread(&thread, &attributes, work_on_lane, l) != 0) abort();
    pthread_attr_destroy(&attributes);
}

static void add_item(lane *l, item *i) {
    if (l->last)
        l->last->next = i;
    else
        l->first = i;
    l->last = i;
    l->is_free = false;
    rl_deliver(l);
}

static void send(dispatch_object queue, call c, bool is_block, bool barrier, rl_place place) {
    if (is_block) c.context = real_block_copy()(c.context);
    item *i = malloc(sizeof *i);
    if (!i) abort();
    *i = (item){.queue = queue, .call = c, .is_block = is_block, .barrier = barrier, .pc = place.pc};
    dispatch_retain(queue);
    begin_lanes_of_run();
    const queue_kind kind = rl_kind_of_queue(queue);
    const bool is_serial = kind == SERIAL || kind == MAIN;
    rl_point(RL_SEND, rl_line_of(queue), place);
    if (kind != GLOBAL) rl_stand_in_line(queue, i, is_serial || barrier);
    lane *l = lane_of(queue, is_serial);
    rl_hand_down(i, place.pc);
    add_item(l, i);
    if (!l->is_started) start_worker(l);
}

void dispatch_async(dispatch_object queue, void *work) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) {
        remember_for_set_up(queue);
        return real_async()(queue, work);
    }
    send(queue, (call){rl_call_block, work}, true, false, place);
}

void dispatch_barrier_async(dispatch_object queue, void *work) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) {
        remember_for_set_up(queue);
        return real_barrier_async()(queue, work);
    }
    send(queue, (call){rl_call_block, work}, true, true, place);
}

void dispatch_async_f(dispatch_object queue, void *context, function work) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) {
        remember_for_set_up(queue);
        return real_async_f()(queue, context, work);
    }
    send(queue, (call){work, context}, false, false, place);
}

void dispatch_barrier_async_f(dispatch_object queue, void *context, function work) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) {
        remember_for_set_up(queue);
        return real_barrier_async_f()(queue, context, work);
    }
    send(queue, (call){work, context}, false, true, place);
}

#endif
