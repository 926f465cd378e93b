// Work that threads wait for: that of groups and work items, and what is sent to the main queue; and
// the work items of Dispatch. Each has a group of its own, entered when the item is created and left
// when the item has been done for the first time (group.c).

#include "Model/locks.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "Scheduler/outside.h"
#include "Search/waking.h"
#include "State/shadow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_QUEUES

#include <string.h>

static bool has_finished(const thread *t) { return t->waits_for->count == 0; }

static void acquire_from_all(thread *t) { rl_join_clock(&t->clock, &t->waits_for->released); }

const rl_operation rl_await_work = {
    .kind = RL_AWAIT,
    .has_record = true,
    .is_available = has_finished,
    .carry_out = acquire_from_all,
    .help_from_outside =
        "waits for a group that was made outside of the scenario, where it may be left",
};
const rl_operation rl_try_to_await_work = {
    .kind = RL_TRY_AWAIT,
    .has_record = true,
    .is_attempt = true,
    .is_available = has_finished,
    .carry_out = acquire_from_all,
};

bool rl_is_counted(const void *group) { return rl_known_lock((uintptr_t)group) != NULL; }

void rl_count_unfinished(const void *group, int64_t count) {
    lock *l = rl_lock_at((uintptr_t)group);
    l->count = l->count_at_first = count;
    l->change = NULL;
}

int64_t rl_unfinished(const void *group) { return rl_lock_at((uintptr_t)group)->count; }

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

dispatch_object rl_group_of_work_item(void *block) {
    const work_item *item = work_item_of(block);
    return item ? item->group : NULL;
}

bool rl_has_run_twice(void *block) {
    const work_item *item = work_item_of(block);
    return item && item->performed > 1;
}

bool rl_is_barrier(void *block) {
    const work_item *item = work_item_of(block);
    return item && (item->flags & IS_BARRIER);
}

// Swift's `async(flags:execute:)` creates an item of its own that other code cannot reach.
bool rl_passes_work_item(void *block, rl_place place) {
    if (!work_item_of(block)) return false;
    Dl_info info;
    if (!dladdr((void *)(place.pc - 1), &info) || !info.dli_sname) return true;
    return strncmp(info.dli_sname, "$s", 2) != 0 || strstr(info.dli_sname, "WorkItemC");
}

/// Cancelling an item, and asking whether it has been cancelled, order nothing else.
static const rl_operation ask_item = {.kind = RL_ATOMIC_READ};
static const rl_operation cancel_item = {.kind = RL_ATOMIC_WRITE};

_Thread_local rl_work_in_hand rl_in_hand;

/// Dispatch ends the process if an item runs again after a wait for it has ended, and if a
/// notification is registered after that.
static void runs_again(dispatch_object group) {
    lab.run.free_before = rl_free_for((uintptr_t)group);
    rl_lock_at((uintptr_t)group)->is_of_item = true;
    rl_did(me->thread, RL_ENTER, (uintptr_t)group, false);
}

static void begin_work_item(void *block) {
    if (rl_in_hand.block != block || !rl_in_hand.is_known || !rl_active || !work_item_of(block))
        return;
    const rl_place place = {rl_in_hand.pc, RL_CALLER.stack};
    // At this point the thread reads whether the item has been cancelled.
    rl_point(&ask_item, block, place);
    const dispatch_object group = work_item_of(block)->group;
    if (rl_note_on_item(group, HAS_BEGUN, place)) runs_again(group);
}

/// The block of a work item checks for itself whether it has been cancelled.
void rl_call_block(void *context) {
    begin_work_item(context);
    ((block *)context)->invoke(context);
    if (rl_active && rl_has_run_twice(context)) runs_again(work_item_of(context)->group);
}

static const void *notes_on(dispatch_object group) { return (const char *)group + 1; }

bool rl_is_group_of_item(dispatch_object group) {
    const void *notes = notes_on(group);
    return rl_is_counted(notes) && (rl_unfinished(notes) & IS_MADE);
}

void rl_is_of_no_item(dispatch_object group) {
    if (rl_is_counted(notes_on(group))) rl_count_unfinished(notes_on(group), 0);
}

// The lab cannot see where `perform()` checks whether the item has been cancelled.
bool rl_note_on_item(dispatch_object group, int note, rl_place place) {
    const int both = IS_CANCELED | IS_PERFORMED;
    const void *notes = notes_on(group);
    const int64_t before = rl_is_counted(notes) ? rl_unfinished(notes) : 0;
    rl_count_unfinished(notes, before | note);
    if (((before | note) & both) == both)
        rl_meet_outside("is about a work item that is both canceled and performed on the spot",
                        place);
    return before & note;
}

bool rl_is_of_item_in_hand(dispatch_object group) {
    const work_item *item = rl_in_hand.block ? work_item_of(rl_in_hand.block) : NULL;
    return item && item->group == group;
}

static void *made(void *block) {
    const work_item *item = block ? work_item_of(block) : NULL;
    if (!item) return block;
    rl_made(item->group);
    if (rl_is_of_lab()) rl_count_unfinished(notes_on(item->group), IS_MADE);
    return block;
}

void *dispatch_block_create(unsigned long flags, void *work) {
    return made(REAL(dispatch_block_create)(flags, work));
}

void *dispatch_block_create_with_qos_class(unsigned long flags, unsigned qos, int priority,
                                           void *work) {
    return made(REAL(dispatch_block_create_with_qos_class)(flags, qos, priority, work));
}

void dispatch_block_cancel(void *block) {
    CALLED_AT(place, now);
    if (now == BY_PROGRAM) rl_point(&cancel_item, block, place);
    const work_item *item = now == BY_PROGRAM ? work_item_of(block) : NULL;
    if (item) rl_note_on_item(item->group, IS_CANCELED, place);
    REAL(dispatch_block_cancel)(block);
}

intptr_t dispatch_block_testcancel(void *block) {
    CALLED_AT(place, now);
    if (now == BY_PROGRAM) rl_point(&ask_item, block, place);
    return REAL(dispatch_block_testcancel)(block);
}

#endif
