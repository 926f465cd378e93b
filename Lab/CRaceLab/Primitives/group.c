// The entry points of Dispatch for groups, also for those of work items.
//
// On lab threads the engine keeps the count and the real group stays empty. This file keeps the
// work that is sent to a queue when a group finishes.

#include "Model/group_order.h"
#include "Model/happens_before.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "Scheduler/outside.h"
#include "Search/waking.h"
#include "State/shadow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

intptr_t dispatch_group_wait(dispatch_object group, uint64_t timeout);
void dispatch_group_leave(dispatch_object group);
void dispatch_block_notify(void *block, dispatch_object queue, void *work);

static lock *record_of(dispatch_object group) { return rl_lock_at((uintptr_t)group); }

// MARK: - Operations

static void count_one_more(thread *t) {
    lock *group = rl_lock_at(t->address);
    rl_enters_group(group);
    group->count++;
}

static void count_one_fewer(thread *t) {
    lock *group = rl_lock_at(t->address);
    rl_leaves_group(group);
    group->count--;
    rl_join_clock(&group->released, &t->clock);
    rl_tick(me->thread);
}

static const rl_operation enter_once = {.kind = RL_ENTER, .carry_out = count_one_more};
static const rl_operation leave_once = {.kind = RL_LEAVE, .carry_out = count_one_fewer};
static const rl_operation register_work = {.kind = RL_NOTIFY};

/// Starts counting a group on its first use in this run. `of_item`: it belongs to a work item.
static void meet(dispatch_object group, bool of_item, rl_place place) {
    if (rl_is_counted(group)) return;
    const bool is_empty = REAL(dispatch_group_wait)(group, 0) == 0;
    if (!is_empty && !of_item)
        rl_meet_outside("uses a group that was entered outside of the scenario", place);
    rl_count_unfinished(group, is_empty ? 0 : 1);
    record_of(group)->is_of_item = of_item;
}

// MARK: - Notifications

static item_list notifications;
RL_OF_RUN(notifications)

/// Removes and returns the notifications of a group in registration order.
static item_list take_notifications(dispatch_object group) {
    item_list all = notifications, taken = {NULL, NULL};
    notifications = taken;
    for (item *i; (i = rl_take_first(&all));)
        rl_append(i->after == group ? &taken : &notifications, i);
    record_of(group)->is_followed = false;
    return taken;
}

static void forget_notifications(void) { rl_discard_all(&notifications); }
RL_SERVICE(.run_is_over = forget_notifications)

/// Sends the work of a notification whose group has finished.
static void send_after(item *i, rl_place place) {
    place.pc = i->pc;
    rl_send_item(i, place);
}

// MARK: - Creating, entering and leaving groups

dispatch_object dispatch_group_create(void) {
    dispatch_object group = REAL(dispatch_group_create)();
    rl_made(group);
    if (!rl_is_of_lab()) return group;
    // Its address may be that of an object that was freed during the setup.
    if (rl_is_counted(group)) rl_count_unfinished(group, 0);
    rl_is_of_no_item(group);
    return group;
}

static void enter(dispatch_object group, rl_place place) {
    meet(group, false, place);
    if (rl_is_between_runs_here())
        rl_count_unfinished(group, rl_unfinished(group) + 1);
    else
        rl_point(&enter_once, group, place);
}

static void leave_group(dispatch_object group, rl_place place) {
    if (rl_is_between_runs_here())
        rl_count_unfinished(group, rl_unfinished(group) - 1);
    else
        rl_point(&leave_once, group, place);
    // The real group was never entered, so this call crashes the process as it would outside the
    // lab.
    if (rl_unfinished(group) < 0) REAL(dispatch_group_leave)(group);
    if (rl_unfinished(group) != 0) return;
    item_list taken = take_notifications(group);
    for (const item *i = taken.first; i; i = i->next) rl_pass_on(i, group);
    for (item *i; (i = rl_take_first(&taken));) send_after(i, place);
}

void dispatch_group_enter(dispatch_object group) {
    rl_place place = RL_CALLER;
    const circumstance now = rl_circumstance(NO_FAMILY, &place);
    if (now == FOREIGN) return REAL(dispatch_group_enter)(group);
    if (!is_handled(now)) return rl_meet_outside("enters a group while a global is made", place);
    enter(group, place);
}

/// Called when Dispatch leaves the group of an item that has been done.
static void leave_group_of_item(dispatch_object group, rl_place place) {
    if (rl_is_of_item_in_hand(group) && !rl_in_hand.is_known) return;
    // If the call comes from libdispatch itself, the item is freed without having been done.
    const bool is_performed =
        !rl_is_of_item_in_hand(group) && !rl_is_in_library(place.pc, "libdispatch");
    if (rl_is_of_item_in_hand(group))
        place.pc = rl_in_hand.pc;
    else
        rl_library_between(&place);
    if (!rl_is_between_runs_here() && !rl_active) return;
    if (is_performed) rl_note_on_item(group, IS_PERFORMED, place);
    // Dispatch enters this group when it makes it, and leaves it once. A group that is not entered
    // was known at this address before.
    if (!rl_is_counted(group) || rl_unfinished(group) == 0) rl_count_unfinished(group, 1);
    record_of(group)->is_of_item = true;
    leave_group(group, place);
}

void dispatch_group_leave(dispatch_object group) {
    rl_place place = RL_CALLER;
    // Dispatch makes this call last, as a tail call: then Dispatch's caller appears to make it. That
    // may be the code under test.
    if (rl_is_of_lab() && (rl_is_of_item_in_hand(group) || !rl_is_under_test(place.pc) ||
                           rl_is_group_of_item(group))) {
        leave_group_of_item(group, place);
        return REAL(dispatch_group_leave)(group);
    }
    const circumstance now = rl_circumstance(NO_FAMILY, &place);
    if (now == FOREIGN) return REAL(dispatch_group_leave)(group);
    if (!is_handled(now)) return rl_meet_outside("leaves a group while a global is made", place);
    meet(group, false, place);
    leave_group(group, place);
}

// MARK: - Waiting for work items

intptr_t dispatch_block_wait(void *block, uint64_t timeout) {
    rl_place place = RL_CALLER;
    dispatch_object group = rl_is_of_lab() ? rl_group_of_work_item(block) : NULL;
    if (group) meet(group, true, place);
    // The real function waits for the item's group through `dispatch_group_wait`. Afterwards, the
    // item must not run again.
    const intptr_t result = REAL(dispatch_block_wait)(block, timeout);
    if (group && rl_active) rl_did(me->thread, RL_ATOMIC_WRITE, (uintptr_t)block, true);
    return result;
}

// MARK: - Waiting

/// Runs work that was sent to queues and not yet done: it may leave the group.
static intptr_t wait_between_runs(dispatch_object group, uint64_t timeout) {
    while (rl_unfinished(group) > 0 && rl_do_waiting_work()) {}
    if (rl_unfinished(group) == 0) return 0;
    if (timeout != FOREVER) return 1;
    // Nothing ends this wait.
    REAL(dispatch_group_enter)(group);
    return REAL(dispatch_group_wait)(group, FOREVER);
}

static intptr_t wait_in_run(dispatch_object group, uint64_t timeout, rl_place place) {
    rl_looks_at_group(record_of(group));
    uint32_t step = timeout == FOREVER ? rl_point(&rl_await_work, group, place)
                    : rl_has_passed(timeout)
                        ? rl_point(&rl_try_to_await_work, group, place)
                        : rl_timed_point(&rl_await_work, group, place, rl_model_time(timeout));
    return rl_got_it(step) ? 0 : 1;
}

intptr_t dispatch_group_wait(dispatch_object group, uint64_t timeout) {
    rl_place place = RL_CALLER;
    const circumstance now = rl_circumstance(NO_FAMILY, &place);
    if (!is_handled(now) && now != FOREIGN && rl_is_counted(group))
        return rl_unfinished(group) == 0 ? 0 : 1;
    if (!is_handled(now)) return REAL(dispatch_group_wait)(group, timeout);
    meet(group, false, place);
    return now == BY_PROGRAM ? wait_in_run(group, timeout, place)
                             : wait_between_runs(group, timeout);
}

// MARK: - Registering notifications

/// `work_item`: the one that the group belongs to, or NULL.
static void notify(dispatch_object group, void *work_item, item *i, rl_place place) {
    meet(group, work_item, place);
    if (!rl_is_between_runs_here()) {
        rl_looks_at_group(record_of(group));
        rl_point(&register_work, group, place);
    }
    // Then the real function ends the process.
    if (work_item && rl_has_run_twice(work_item))
        REAL(dispatch_block_notify)(work_item, NULL, NULL);
    rl_hand_down(i, place.pc);
    i->after = group;
    if (rl_unfinished(group) > 0) {
        record_of(group)->is_followed = true;
        return rl_append(&notifications, i);
    }
    rl_pass_on(i, group);
    send_after(i, place);
}

void dispatch_group_notify(dispatch_object group, dispatch_object queue, void *work) {
    rl_place place = RL_CALLER;
    item *i = rl_sent_work(queue, (call){rl_call_block, work}, false, &place);
    if (!i) return REAL(dispatch_group_notify)(group, queue, work);
    notify(group, NULL, i, place);
}

void dispatch_group_notify_f(dispatch_object group, dispatch_object queue, void *context,
                             function work) {
    rl_place place = RL_CALLER;
    item *i = rl_sent_work(queue, (call){work, context}, false, &place);
    if (!i) return REAL(dispatch_group_notify_f)(group, queue, context, work);
    notify(group, NULL, i, place);
}

void dispatch_block_notify(void *block, dispatch_object queue, void *work) {
    rl_place place = RL_CALLER;
    dispatch_object group = rl_is_of_lab() ? rl_group_of_work_item(block) : NULL;
    item *i = group ? rl_sent_work(queue, (call){rl_call_block, work}, false, &place) : NULL;
    if (!i) return REAL(dispatch_block_notify)(block, queue, work);
    notify(group, block, i, place);
}

// MARK: - Sending work as part of a group

static void leave_group_of_work(const item *i, rl_place place) { leave_group(i->group, place); }

static void send_in_group(dispatch_object group, item *i, rl_place place) {
    enter(group, place);
    dispatch_retain(group);
    i->group = group;
    i->when_done = leave_group_of_work;
    rl_send_item(i, place);
}

void dispatch_group_async(dispatch_object group, dispatch_object queue, void *work) {
    rl_place place = RL_CALLER;
    item *i = rl_sent_work(queue, (call){rl_call_block, work}, false, &place);
    if (!i) return REAL(dispatch_group_async)(group, queue, work);
    send_in_group(group, i, place);
}

void dispatch_group_async_f(dispatch_object group, dispatch_object queue, void *context,
                            function work) {
    rl_place place = RL_CALLER;
    item *i = rl_sent_work(queue, (call){work, context}, false, &place);
    if (!i) return REAL(dispatch_group_async_f)(group, queue, context, work);
    send_in_group(group, i, place);
}

#endif
