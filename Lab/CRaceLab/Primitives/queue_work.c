// Work that is sent to a queue of Dispatch: which thread does it, and when.
//
// Threads that the lab starts for a queue run its work, and wait for more until all other threads
// have finished: one thread for a serial queue, as many as needed for a concurrent one. They run
// each piece of work as `sync` does (queue.c), so that it excludes other work on the queue.

#include "Model/delays.h"
#include "Model/locks.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Primitives/actor.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "Primitives/thread.h"
#include "Scheduler/outside.h"
#include "Scheduler/runs.h"
#include "Search/execution.h"
#include "Search/waking.h"
#include "State/shadow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <string.h>

extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);

item *rl_make_item(dispatch_object queue, call c, rl_place place) {
    item *i = rl_allocate_in_run(sizeof *i, "work for a queue");
    *i = (item){.queue = queue, .call = c, .pc = place.pc};
    dispatch_retain(queue);
    return i;
}

static void discard_item(item *i) {
    if (i->is_block) REAL(_Block_release)(i->call.context);
    if (i->group) dispatch_release(i->group);
    dispatch_release(i->queue);
}

/// Work that another thread waits for, counted as one unfinished unit, has been done. Not a point:
/// only that wait depends on it.
static void finished(const void *work) {
    lock *l = rl_lock_at((uintptr_t)work);
    thread *t = my_thread();
    rl_notice_unlocks(t);
    lab.run.free_before = rl_free_for(l->address);
    l->count = 0;
    l->released = t->clock;
    // No `rl_tick`: like a release, this is not a step.
    t->clock.at[me->thread]++;
    rl_did(me->thread, RL_LEAVE, l->address, true);
}

/// Runs the work and frees what it has captured, on the queue and before other threads can see that
/// the work has ended.
static void do_work(void *context) {
    item *i = context;
    rl_place place = RL_CALLER;
    place.pc = i->pc;
    const rl_work_in_hand before = rl_in_hand;
    void *block = i->call.work == rl_call_block ? i->call.context : NULL;
    rl_in_hand = (rl_work_in_hand){block, i->pc, i->is_known};
    i->call.work(i->call.context);
    // The thread may have been lost in it, and the item be gone.
    rl_continue_giving_up();
    rl_in_hand = before;
    if (i->is_block) REAL(_Block_release)(i->call.context);
    i->is_block = false;
    if (i->when_done) i->when_done(i, place);
    if (i->is_waited_for) finished(i);
}

// MARK: - Lists

void rl_append(item_list *list, item *i) {
    i->next = NULL;
    if (list->last)
        list->last->next = i;
    else
        list->first = i;
    list->last = i;
}

item *rl_take_first(item_list *list) {
    item *i = list->first;
    if (i) list->first = i->next;
    if (!list->first) list->last = NULL;
    return i;
}

void rl_discard_all(item_list *list) {
    for (item *i; (i = rl_take_first(list));) discard_item(i);
}

// MARK: - Between two runs

// While a scenario is set up and while a run is judged, the thread that sends work to a queue also
// runs it: when it waits for something, or when the set-up or judgment has ended.

/// A queue whose work is running further down the stack.
typedef struct busy_queue {
    dispatch_object queue;
    const struct busy_queue *outer;
} busy_queue;

static struct {
    item_list list;
    const busy_queue *busy;
} waiting;

RL_OF_RUN(waiting)

static bool is_busy(dispatch_object queue) {
    for (const busy_queue *b = waiting.busy; b; b = b->outer)
        if (b->queue == queue) return rl_kind_of_queue(queue) != GLOBAL;
    return false;
}

static item *take_waiting_item(void) {
    item *before = NULL, *i = waiting.list.first;
    while (i && is_busy(i->queue)) {
        before = i;
        i = i->next;
    }
    if (!i) return NULL;
    if (before)
        before->next = i->next;
    else
        waiting.list.first = i->next;
    if (waiting.list.last == i) waiting.list.last = before;
    return i;
}

bool rl_do_waiting_work(void) {
    RL_REQUIRE(rl_is_between_runs_here(), "a run goes on");
    item *i = take_waiting_item();
    if (!i) return false;
    const busy_queue here = {i->queue, waiting.busy};
    waiting.busy = &here;
    // If the work waits, the check that waits for it may still go on.
    const bool was_judging = lab.run.is_judging;
    lab.run.is_judging = false;
    const bool was_main = rl_stand_for_main_thread(false);
    rl_call_on_queue(i->queue, (call){do_work, i}, i->barrier);
    rl_stand_for_main_thread(was_main);
    lab.run.is_judging = was_judging;
    waiting.busy = here.outer;
    discard_item(i);
    return true;
}

// MARK: - In a run

/// The work of one thread for one queue in one run. A serial queue has one lane; a lane of a
/// concurrent queue takes one piece of work after another.
typedef struct {
    dispatch_object queue;
    item_list list;
    bool is_started, is_free;
    rl_moment end;  // of its last work, if the lane is free
} lane;

static struct {
    lane all[RL_MAX_THREADS];
    int count;
} lanes;

RL_OF_RUN(lanes)

/// Discards work that an abandoned run did not finish.
static void forget_lanes(void) {
    for (int k = 0; k < lanes.count; k++) rl_discard_all(&lanes.all[k].list);
    lanes.count = 0;
}

/// A concurrent queue reuses a lane only if the end of its last work happens-before the send.
/// Whether any other lane is free depends on the schedule, without a step that shows it; and
/// running both pieces of work on one thread would order them although nothing else does.
static bool can_take_more(const lane *l, bool is_serial) {
    return is_serial || (l->is_free && rl_knows(l->end));
}

/// A lane that can take more work for a queue, or NULL.
static lane *lane_for(dispatch_object queue, bool is_serial) {
    for (int k = 0; k < lanes.count; k++)
        if (lanes.all[k].queue == queue && can_take_more(&lanes.all[k], is_serial))
            return &lanes.all[k];
    return NULL;
}

static lane *new_lane(dispatch_object queue) {
    if (lanes.count == RL_MAX_THREADS) rl_end_run_with_too_many_threads();
    lanes.all[lanes.count] = (lane){.queue = queue};
    return &lanes.all[lanes.count++];
}

/// The earliest moment known to others that includes all that this thread has done so far. Called
/// after it has left the queue; work that is still on the queue does not matter.
static rl_moment end_of_work(const void *queue) {
    thread *t = my_thread();
    rl_notice_unlocks(t);
    // Releases after the last step can still show that the moment lies after it.
    bool shows = false, has_left = false;
    for (size_t k = 0; k < t->released_count; k++) {
        has_left = t->released[k].lock->address == (uintptr_t)queue;
        shows |= !has_left;
    }
    const uint32_t now = t->clock.at[me->thread];
    const bool told = t->told_in == lab.run.step_count && !shows;
    return (rl_moment){(int8_t)me->thread, told ? t->told : has_left ? now - 1 : now};
}

static void *work_on_lane(void *argument) {
    lane *l = argument;
    my_thread()->serves_queue = true;
    if (rl_recording) rl_recording->queue_threads |= set_of(me->thread);
    rl_stand_for_main_thread(rl_kind_of_queue(l->queue) == MAIN);
    if (rl_stands_for_main_thread()) my_thread()->actor = rl_main_actor();
    while (rl_await(l)) {
        item *i = rl_take_first(&l->list);
        rl_note_wait(i->delivered_in);
        rl_received(i);
        rl_place place = RL_CALLER;
        place.pc = i->pc;
        rl_run_on_queue(l->queue, (call){do_work, i}, i->barrier, i, place);
        discard_item(i);
        l->end = end_of_work(l->queue);
        // A queue has no thread of its own.
        if (rl_holds_lock_of_thread(my_thread()) && rl_kind_of_queue(l->queue) != MAIN)
            rl_meet_outside("keeps a recursive lock at the end of its work on a queue", place);
        l->is_free = true;
    }
    return NULL;
}

/// Adds one item to what a lane can receive.
static void add_item(lane *l, item *i) {
    const uintptr_t address = (uintptr_t)l;
    rl_append(&l->list, i);
    l->is_free = false;
    rl_note_effect(RL_DELIVER, address, rl_free_for(address));
    rl_lock_at(address)->count++;
    i->delivered_in = lab.run.step_count - 1;
}

static void send(item *i, const rl_operation *operation, rl_place place) {
    const queue_kind kind = rl_kind_of_queue(i->queue);
    const bool is_serial = kind == SERIAL || kind == MAIN;
    // On a global queue nothing waits for other work. So the order of sends decides only who gets a
    // lane.
    const bool starts = kind == GLOBAL && !lane_for(i->queue, is_serial);
    rl_point(operation, starts ? my_thread() : rl_line_of(i->queue), place);
    rl_wait_until(i->comes_at);
    if (operation->is_woken) rl_end_delay();
    if (kind != GLOBAL) rl_stand_in_line(i->queue, i, is_serial || i->barrier);
    lane *l = starts ? NULL : lane_for(i->queue, is_serial);
    if (!l) l = new_lane(i->queue);
    rl_hand_down(i, place.pc);
    add_item(l, i);
    if (l->is_started) return;
    l->is_started = true;
    rl_start_detached_thread(work_on_lane, l);
}

void rl_send_item(item *i, rl_place place) {
    static const rl_operation now = {.kind = RL_SEND};
    if (rl_is_between_runs_here()) return rl_append(&waiting.list, i);
    send(i, &now, place);
}

// MARK: - Delayed work

// Work sent with a delay may reach its queue at any later time, which has come then; see delays.c. A
// separate thread sends it.

/// Sent while the scenario was set up.
static item_list delayed;

RL_OF_RUN(delayed)

static void *send_later(void *argument) {
    static const rl_operation later = {.kind = RL_SEND, .is_woken = rl_can_end_delay};
    item *i = argument;
    rl_place place = RL_CALLER;
    place.pc = i->pc;
    send(i, &later, place);
    return NULL;
}

static void send_in_run(void *argument) { send_later(argument); }

/// The thread that was started last sends this.
static void begin_delay(const item *i) {
    rl_begin_delay(&lab.run.threads[lab.run.thread_count - 1], i->comes_at);
}

void rl_send_item_later(uint64_t when, item *i, rl_place place) {
    if (when == FOREVER) return discard_item(i);
    i->comes_at = rl_model_time(when);
    rl_note_clock_read();
    if (rl_is_between_runs_here()) return rl_append(&delayed, i);
    rl_announce_start(place);
    rl_start_detached_thread(send_later, i);
    begin_delay(i);
}

static void begin_delayed_work(void) {
    for (item *i; (i = rl_take_first(&delayed));) {
        const int before = lab.run.thread_count;
        rl_add_thread_of_set_up(send_in_run, i);
        if (lab.run.thread_count > before) begin_delay(i);
    }
}

static void forget_unfinished_work(void) {
    forget_lanes();
    rl_discard_all(&delayed);
}

// MARK: - Between two runs

static void finish_work(void) {
    RL_REQUIRE(rl_is_between_runs_here(), "a run goes on");
    forget_lanes();
    // What the code that was abandoned has sent is not done.
    if (lab.run.judge_waits) memset(&waiting, 0, sizeof waiting);
    while (rl_do_waiting_work()) {}
}

RL_SERVICE(.code_has_ended = finish_work, .threads_begin = begin_delayed_work,
           .run_is_over = forget_unfinished_work)

// MARK: - What is sent

/// Whether the code under test made this call on a lab thread and sends work that the lab can run.
static bool is_sending(rl_place *place) {
    if (!rl_is_of_lab() || (rl_active && !rl_sees(RL_QUEUES, *place))) return false;
    rl_place nearest = *place;
    const bool is_known = rl_is_call_of_program(place) && (rl_active || rl_is_between_runs_here());
    // Walking the stack past library frames is slow, and the result is the same for the same
    // caller.
    static struct { uintptr_t caller, place; } direct[64];
    const uintptr_t slot = (nearest.pc ^ place->pc >> 3) % 64;
    if (is_known && direct[slot].caller == nearest.pc && direct[slot].place == place->pc)
        return true;
    const uintptr_t caller = nearest.pc;
    // Ignore the calls that Dispatch makes for itself.
    if (rl_is_in_library(caller, "libdispatch")) return false;
    const char *library = rl_library_between(&nearest);
    if (is_known && !library) {
        direct[slot].caller = caller;
        direct[slot].place = place->pc;
        return true;
    }
    if (library && strstr(library, "_Concurrency"))
        rl_meet_task_outside(nearest);
    else
        rl_meet_outside(library ? "has a library send work to a queue, as OperationQueue does"
                                : "sends work to a queue while a global is made",
                        nearest);
    return false;
}

item *rl_sent_work(dispatch_object queue, call c, bool barrier, rl_place *place) {
    const rl_place caller = *place;
    if (!is_sending(place)) return NULL;
    const bool is_block = c.work == rl_call_block;
    if (is_block) c.context = REAL(_Block_copy)(c.context);
    item *i = rl_make_item(queue, c, *place);
    i->is_block = is_block;
    i->barrier = barrier || (is_block && rl_is_barrier(c.context));
    i->is_known = is_block && rl_passes_work_item(c.context, caller);
    return i;
}

#endif
