// The entry points of Dispatch for groups and for work items. Each work item has a group of its
// own, entered when the item is created and left when the item has been done for the first time.
//
// On lab threads the engine keeps the count and the real group stays empty. This file keeps the
// work that is sent to a queue when a group finishes.
//
// Linux only, where the program's definitions take precedence; see hook_threads.c.

#include "Hooks/dispatch.h"
#include "Model/happens_before.h"
#include "Model/locks.h"
#include "Platform/memory.h"
#include "Scheduler/outside.h"
#include "Scheduler/points.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*on_group)(dispatch_object group);
typedef intptr_t (*group_wait)(dispatch_object group, uint64_t timeout);
typedef void (*group_work)(dispatch_object group, dispatch_object queue, void *work);
typedef void (*group_work_f)(dispatch_object group, dispatch_object queue, void *context,
                             function work);
REAL(on_group, real_enter, "dispatch_group_enter")
REAL(on_group, real_leave, "dispatch_group_leave")
REAL(group_wait, real_wait, "dispatch_group_wait")
REAL(group_work, real_notify, "dispatch_group_notify")
REAL(group_work_f, real_notify_f, "dispatch_group_notify_f")
REAL(group_work, real_group_async, "dispatch_group_async")
REAL(group_work_f, real_group_async_f, "dispatch_group_async_f")

// MARK: - The caller

typedef enum {
    FOREIGN,        // not a lab thread
    IN_RUN,         // the code under test, during a run
    BETWEEN_RUNS,   // the code that sets up a scenario or judges a run
    UNSEEN,         // code that the lab ignores, on a lab thread
} circumstance;

static circumstance circumstance_of(rl_place *place) {
    if (!rl_is_of_lab()) return FOREIGN;
    if (rl_is_between_runs_here()) return BETWEEN_RUNS;
    return rl_active && rl_is_call_of_program(place) ? IN_RUN : UNSEEN;
}

/// Starts counting a group on its first use in this run. `of_item`: it belongs to a work item.
static void meet(dispatch_object group, bool of_item, rl_place place) {
    if (rl_is_counted(group)) return;
    const bool is_empty = real_wait()(group, 0) == 0;
    if (!is_empty && !of_item)
        rl_meet_outside("uses a group that was entered outside of the scenario", place);
    rl_count_unfinished(group, is_empty ? 0 : 1);
}

// MARK: - Notifications

typedef struct notification {
    struct notification *next;
    dispatch_object group;
    item *item;
    uint64_t run;
} notification;

static notification *notifications;

/// Removes and returns the notifications of a group in registration order. If the group is NULL,
/// removes those that other runs left behind.
static notification *take_notifications(dispatch_object group) {
    notification *taken = NULL, **end = &taken, **at = &notifications;
    while (*at) {
        notification *n = *at;
        if (group ? n->group != group : n->run == rl_run_number()) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        n->next = NULL;
        *end = n;
        end = &n->next;
    }
    return taken;
}

void rl_forget_notifications(void) {
    for (notification *n = take_notifications(NULL), *next; n; n = next) {
        next = n->next;
        rl_discard_item(n->item);
        free(n);
    }
}

static void register_notification(dispatch_object group, item *i) {
    notification **end = &notifications;
    while (*end) end = &(*end)->next;
    *end = rl_allocate(sizeof **end, "a notification");
    **end = (notification){.group = group, .item = i, .run = rl_run_number()};
}

/// Sends the work of a notification whose group has finished.
static void send_after(item *i, rl_place place) {
    place.pc = i->pc;
    rl_send_item(i, place);
}

// MARK: - Creating, entering and leaving groups

typedef dispatch_object (*group_create)(void);
REAL(group_create, real_group_create, "dispatch_group_create")

dispatch_object dispatch_group_create(void) {
    dispatch_object group = real_group_create()();
    rl_made(group);
    // Its address may be that of an object that was freed during the setup.
    if (rl_is_of_lab() && rl_is_counted(group)) rl_count_unfinished(group, 0);
    return group;
}

static void enter(dispatch_object group, rl_place place) {
    meet(group, false, place);
    if (rl_is_between_runs_here())
        rl_count_unfinished(group, rl_unfinished(group) + 1);
    else
        rl_point(RL_ENTER, group, place);
}

void rl_leave_group(dispatch_object group, rl_place place) {
    if (rl_is_between_runs_here())
        rl_count_unfinished(group, rl_unfinished(group) - 1);
    else
        rl_point(RL_LEAVE, group, place);
    // The real group was never entered, so this call crashes the process as it would outside the
    // lab.
    if (rl_unfinished(group) < 0) real_leave()(group);
    if (rl_unfinished(group) != 0) return;
    notification *taken = take_notifications(group);
    for (notification *n = taken; n; n = n->next) rl_pass_on(n->item, group);
    for (notification *n = taken, *next; n; n = next) {
        next = n->next;
        send_after(n->item, place);
        free(n);
    }
}

void dispatch_group_enter(dispatch_object group) {
    rl_place place = RL_CALLER;
    switch (circumstance_of(&place)) {
        case IN_RUN:
        case BETWEEN_RUNS:
            return enter(group, place);
        case UNSEEN:
            rl_meet_outside("enters a group while a global is made", place);
            return;
        case FOREIGN:
            return real_enter()(group);
    }
}

// MARK: - Work items

/// The layout of a block created by `dispatch_block_create`.
typedef struct {
    void *isa;
    int block_flags, reserved;
    void *invoke, *descriptor;
    uint64_t magic, flags;
    uint32_t state;
    int32_t performed;
    uint64_t priority;
    void *voucher, *block;
    dispatch_object group;
} work_item;

#define MAGIC_OF_WORK_ITEM 0xD159B10Cull
#define IS_BARRIER 1ull

/// Returns the block as a work item, or NULL if it is not one.
static work_item *work_item_of(void *block) {
    static void **invoke;
    if (!invoke) invoke = dlsym(RTLD_DEFAULT, "_dispatch_block_special_invoke");
    work_item *item = block;
    return invoke && item->invoke == *invoke && item->magic == MAGIC_OF_WORK_ITEM ? item : NULL;
}

bool rl_is_barrier(void *block) {
    const work_item *item = work_item_of(block);
    return item && (item->flags & IS_BARRIER);
}

/// Swift's `async(flags:execute:)` creates an item of its own that other code cannot reach.
bool rl_passes_work_item(void *block, rl_place place) {
    if (!work_item_of(block)) return false;
    Dl_info info;
    if (!dladdr((void *)(place.pc - 1), &info) || !info.dli_sname) return true;
    return strncmp(info.dli_sname, "$s", 2) != 0 || strstr(info.dli_sname, "WorkItemC");
}

static _Thread_local rl_work_in_hand in_hand;

rl_work_in_hand rl_in_hand(void) { return in_hand; }

rl_work_in_hand rl_take_in_hand(rl_work_in_hand work) {
    rl_work_in_hand before = in_hand;
    in_hand = work;
    return before;
}

void rl_begin_work_item(void *block) {
    if (in_hand.block != block || !in_hand.is_known || !rl_active || !work_item_of(block)) return;
    // At this point the thread reads whether the item has been cancelled.
    rl_point(RL_ATOMIC_READ, block, (rl_place){in_hand.pc, RL_CALLER.stack});
}

// The lab cannot see where `perform()` checks whether the item has been cancelled.
enum { IS_CANCELED = 1, IS_PERFORMED = 2 };

static void note_on_item(dispatch_object group, int note, rl_place place) {
    const void *notes = (const char *)group + 1;
    const int64_t before = rl_is_counted(notes) ? rl_unfinished(notes) : 0;
    rl_count_unfinished(notes, before | note);
    if ((before | note) == (IS_CANCELED | IS_PERFORMED))
        rl_meet_outside("is about a work item that is both canceled and performed on the spot",
                        place);
}

/// Whether the group belongs to the item that this thread is running.
static bool is_of_item_in_hand(dispatch_object group) {
    const work_item *item = in_hand.block ? work_item_of(in_hand.block) : NULL;
    return item && item->group == group;
}

/// Called when Dispatch leaves the group of an item that has been done.
static void leave_group_of_item(dispatch_object group, rl_place place) {
    if (is_of_item_in_hand(group) && !in_hand.is_known) return;
    // If the call comes from libdispatch itself, the item is freed without having been done.
    const bool is_performed =
        !is_of_item_in_hand(group) && !rl_is_in_library(place.pc, "libdispatch");
    if (is_of_item_in_hand(group))
        place.pc = in_hand.pc;
    else
        rl_library_between(&place);
    if (!rl_is_between_runs_here() && !rl_active) return;
    if (is_performed) note_on_item(group, IS_PERFORMED, place);
    // Dispatch enters this group when it makes it, and leaves it once. A group that is not entered
    // was known at this address before.
    if (!rl_is_counted(group) || rl_unfinished(group) == 0) rl_count_unfinished(group, 1);
    rl_leave_group(group, place);
}

void dispatch_group_leave(dispatch_object group) {
    rl_place place = RL_CALLER;
    // Dispatch makes this call last, as a tail call: then Dispatch's caller appears to make it.
    if (rl_is_of_lab() && (is_of_item_in_hand(group) || !rl_is_under_test(place.pc))) {
        leave_group_of_item(group, place);
        return real_leave()(group);
    }
    switch (circumstance_of(&place)) {
        case IN_RUN:
        case BETWEEN_RUNS:
            meet(group, false, place);
            return rl_leave_group(group, place);
        case UNSEEN:
            rl_meet_outside("leaves a group while a global is made", place);
            return;
        case FOREIGN:
            return real_leave()(group);
    }
}

typedef void (*on_block)(void *block);
typedef intptr_t (*ask_block)(void *block);
typedef intptr_t (*block_wait)(void *block, uint64_t timeout);
typedef void (*block_notify)(void *block, dispatch_object queue, void *work);
REAL(on_block, real_block_cancel, "dispatch_block_cancel")
REAL(ask_block, real_block_testcancel, "dispatch_block_testcancel")
REAL(block_wait, real_block_wait, "dispatch_block_wait")
REAL(block_notify, real_block_notify, "dispatch_block_notify")

typedef void *(*block_create)(unsigned long flags, void *work);
typedef void *(*block_create_with_qos)(unsigned long flags, unsigned qos, int priority, void *work);
REAL(block_create, real_block_create, "dispatch_block_create")
REAL(block_create_with_qos, real_block_create_with_qos, "dispatch_block_create_with_qos_class")

static void *made(void *block) {
    const work_item *item = block ? work_item_of(block) : NULL;
    if (item) rl_made(item->group);
    return block;
}

void *dispatch_block_create(unsigned long flags, void *work) {
    return made(real_block_create()(flags, work));
}

void *dispatch_block_create_with_qos_class(unsigned long flags, unsigned qos, int priority,
                                           void *work) {
    return made(real_block_create_with_qos()(flags, qos, priority, work));
}

void dispatch_block_cancel(void *block) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(RL_ATOMIC_WRITE, block, place);
    const work_item *item = is_listened_to ? work_item_of(block) : NULL;
    if (item) note_on_item(item->group, IS_CANCELED, place);
    real_block_cancel()(block);
}

intptr_t dispatch_block_testcancel(void *block) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(RL_ATOMIC_READ, block, place);
    return real_block_testcancel()(block);
}

intptr_t dispatch_block_wait(void *block, uint64_t timeout) {
    rl_place place = RL_CALLER;
    work_item *item = rl_is_of_lab() ? work_item_of(block) : NULL;
    if (item) meet(item->group, true, place);
    // The real function waits for the item's group through `dispatch_group_wait`.
    return real_block_wait()(block, timeout);
}

// MARK: - Waiting

/// Runs work that was sent to queues and not yet done: it may leave the group.
static intptr_t wait_between_runs(dispatch_object group, uint64_t timeout) {
    while (rl_unfinished(group) > 0 && rl_do_waiting_work()) {}
    if (rl_unfinished(group) == 0) return 0;
    while (timeout == FOREVER) pause();
    return 1;
}

static intptr_t wait_in_run(dispatch_object group, uint64_t timeout, rl_place place) {
    uint32_t step = timeout == FOREVER       ? rl_point(RL_AWAIT, group, place)
                    : rl_has_passed(timeout) ? rl_point(RL_TRY_AWAIT, group, place)
                                             : rl_timed_point(RL_AWAIT, group, place);
    return rl_got_it(step) ? 0 : 1;
}

intptr_t dispatch_group_wait(dispatch_object group, uint64_t timeout) {
    rl_place place = RL_CALLER;
    switch (circumstance_of(&place)) {
        case IN_RUN:
            meet(group, false, place);
            return wait_in_run(group, timeout, place);
        case BETWEEN_RUNS:
            meet(group, false, place);
            return wait_between_runs(group, timeout);
        case UNSEEN:
            if (rl_is_counted(group)) return rl_unfinished(group) == 0 ? 0 : 1;
            return real_wait()(group, timeout);
        case FOREIGN:
            return real_wait()(group, timeout);
    }
    return 0;
}

// MARK: - Registering notifications

static void notify(dispatch_object group, item *i, rl_place place) {
    if (!rl_is_between_runs_here()) rl_point(RL_NOTIFY, group, place);
    rl_hand_down(i, place.pc);
    if (rl_unfinished(group) > 0) return register_notification(group, i);
    rl_pass_on(i, group);
    send_after(i, place);
}

void dispatch_group_notify(dispatch_object group, dispatch_object queue, void *work) {
    const rl_place caller = RL_CALLER;
    rl_place place = caller;
    if (!rl_is_sending(&place)) return real_notify()(group, queue, work);
    meet(group, false, place);
    notify(group, rl_make_block_item(queue, work, false, place, caller), place);
}

void dispatch_group_notify_f(dispatch_object group, dispatch_object queue, void *context,
                             function work) {
    rl_place place = RL_CALLER;
    if (!rl_is_sending(&place)) return real_notify_f()(group, queue, context, work);
    meet(group, false, place);
    notify(group, rl_make_item(queue, (call){work, context}, place), place);
}

void dispatch_block_notify(void *block, dispatch_object queue, void *work) {
    const rl_place caller = RL_CALLER;
    rl_place place = caller;
    work_item *item_of_block = rl_is_of_lab() ? work_item_of(block) : NULL;
    if (!item_of_block || !rl_is_sending(&place)) return real_block_notify()(block, queue, work);
    meet(item_of_block->group, true, place);
    notify(item_of_block->group, rl_make_block_item(queue, work, false, place, caller), place);
}

// MARK: - Sending work as part of a group

static void send_in_group(dispatch_object group, item *i, rl_place place) {
    enter(group, place);
    dispatch_retain(group);
    i->group = group;
    rl_send_item(i, place);
}

void dispatch_group_async(dispatch_object group, dispatch_object queue, void *work) {
    const rl_place caller = RL_CALLER;
    rl_place place = caller;
    if (!rl_is_sending(&place)) return real_group_async()(group, queue, work);
    send_in_group(group, rl_make_block_item(queue, work, false, place, caller), place);
}

void dispatch_group_async_f(dispatch_object group, dispatch_object queue, void *context,
                            function work) {
    rl_place place = RL_CALLER;
    if (!rl_is_sending(&place)) return real_group_async_f()(group, queue, context, work);
    send_in_group(group, rl_make_item(queue, (call){work, context}, place), place);
}

#endif
