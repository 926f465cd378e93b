// Declarations for Dispatch that several hook files share.

#pragma once

#include "Primitives/next_symbol.h"
#include "Scheduler/operation.h"

typedef void *dispatch_object;
typedef void (*function)(void *context);

extern void dispatch_retain(dispatch_object object);
extern void dispatch_release(dispatch_object object);
extern void dispatch_sync_f(dispatch_object queue, void *context, function work);
extern void dispatch_barrier_sync_f(dispatch_object queue, void *context, function work);

#define NOW 0ull
#define FOREVER (~0ull)

typedef struct {
    function work;
    void *context;
} call;

/// The part of a block's layout that is needed to call it.
typedef struct {
    void *isa;
    int flags, reserved;
    void (*invoke)(void *block);
} block;

// clock.c

/// Whether a deadline has passed.
bool rl_has_passed(uint64_t time);
/// When a time really comes that the code under test has computed from a clock which stands still.
uint64_t rl_real_time(uint64_t time);
/// When a time of Dispatch comes, in the time of the model.
uint64_t rl_model_time(uint64_t time);

// queue.c

typedef enum { SERIAL, CONCURRENT, GLOBAL, MAIN } queue_kind;
queue_kind rl_kind_of_queue(dispatch_object queue);

/// Runs a call on a queue, on the calling thread, as `sync` does. `work` is the work that queues up
/// (`rl_stand_in_line`) and that the thread runs; NULL: the thread queues up for itself.
void rl_run_on_queue(dispatch_object queue, call c, bool barrier, const void *work, rl_place place);
/// Calls it inside of Dispatch's function, which returns even if the call is abandoned. For the main
/// queue, the calling thread acts as the main thread.
void rl_call_on_queue(dispatch_object queue, call c, bool barrier);
/// Work that this thread sent to a queue keeps its place in the queue until it is done.
/// `exclusive`: no other work may run on the queue meanwhile.
void rl_stand_in_line(dispatch_object queue, const void *work, bool exclusive);
/// The address to which work for a queue is sent. The queue's own address is its lock.
static inline const void *rl_line_of(const void *queue) { return (const char *)queue + 1; }
/// For the observing thread: runs the work without a step, but gives up at a lock that is held.
void rl_observe_on_queue(dispatch_object queue, call c, bool barrier);

// task_calls.c

/// Intercepts a job that the runtime sends to a queue, or with a delay. Returns false if the real
/// function must send it.
bool rl_job_passes(dispatch_object queue, void *job, function work, rl_place place);
bool rl_delayed_job_passes(uint64_t when, void *job, function work);

// work_item.c

/// Waits until all units of work have finished; or checks whether they have.
extern const rl_operation rl_await_work, rl_try_to_await_work;

/// Whether the number of unfinished units is known in this run.
bool rl_is_counted(const void *group);
/// The number of units of work that a group waits for. It is set when the group is first used in a
/// run, and changed when it is entered or left.
void rl_count_unfinished(const void *group, int64_t count);
int64_t rl_unfinished(const void *group);

/// The block that the calling thread is about to call.
typedef struct {
    void *block;
    uintptr_t pc;   // where it was sent
    bool is_known;  // see `item`
} rl_work_in_hand;

extern _Thread_local rl_work_in_hand rl_in_hand;
/// Calls a block, which takes no arguments. If it is the one in hand and a work item, the thread
/// reads first whether the item has been cancelled.
void rl_call_block(void *block);

/// Whether the code under test created this block as a work item. False for an item that Swift's
/// overlay creates internally before it calls an entry point.
bool rl_passes_work_item(void *block, rl_place caller);
/// Whether a block is a `DispatchWorkItem` that was made with the flag `.barrier`.
bool rl_is_barrier(void *block);
/// Whether the block is a work item that has run at least twice.
bool rl_has_run_twice(void *block);
/// The group of a work item; NULL if the block is not one.
dispatch_object rl_group_of_work_item(void *block);
/// Whether the group belongs to the item that this thread is running.
bool rl_is_of_item_in_hand(dispatch_object group);

/// Whether the group belongs to an item that a thread of the lab has made in this run.
bool rl_is_group_of_item(dispatch_object group);
/// Called for a new group, whose address may be that of such a group.
void rl_is_of_no_item(dispatch_object group);

enum { IS_CANCELED = 1, IS_PERFORMED = 2, HAS_BEGUN = 4, IS_MADE = 8 };
/// Records what happened to the work item with this group. Returns whether it had happened before.
bool rl_note_on_item(dispatch_object group, int note, rl_place place);

// queue_work.c

/// A piece of work for a queue.
typedef struct item {
    struct item *next;
    dispatch_object queue;
    call call;
    bool is_block, barrier;
    bool is_known;          // a work item that other code can wait for or cancel
    bool is_waited_for;     // the sending thread waits for it (`finished`)
    dispatch_object after;  // the group after which it is sent
    dispatch_object group;  // the group to which the work belongs, or NULL …
    void (*when_done)(const struct item *i, rl_place place);  // … and what to do when it is done
    uintptr_t pc;                                             // where it was sent
    uint64_t comes_at;      // when delayed work comes, in the time of the model
    uint32_t delivered_in;  // the step that delivered it to its lane
} item;

item *rl_make_item(dispatch_object queue, call c, rl_place place);
/// The work that the code under test sends with a call at `*place`, which becomes the place in that
/// code; NULL: the real function must send it. If such work would run outside the scenario, the
/// exploration ends without a verdict. A call of `rl_call_block` has a block, which is copied.
item *rl_sent_work(dispatch_object queue, call c, bool barrier, rl_place *place);
void rl_send_item(item *i, rl_place place);
/// Sends it at any later time, or never.
void rl_send_item_later(uint64_t when, item *i, rl_place place);

/// Work in the order in which it was sent.
typedef struct {
    item *first, *last;
} item_list;
void rl_append(item_list *list, item *i);
/// Removes and returns the first one; NULL: there is none.
item *rl_take_first(item_list *list);
void rl_discard_all(item_list *list);

/// Runs one work item that was sent to a queue between two runs. Returns false if there is none
/// that can run now.
bool rl_do_waiting_work(void);
