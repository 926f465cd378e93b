// Of Dispatch, what more than one file listens to.

#ifndef RACELAB_DISPATCH_H
#define RACELAB_DISPATCH_H

#include "Hooks/next_symbol.h"
#include "State/place.h"

typedef void *dispatch_object;
typedef void (*function)(void *context);

extern void dispatch_retain(dispatch_object object);
extern void dispatch_release(dispatch_object object);

typedef void (*call_on)(dispatch_object queue, void *context, function work);
typedef void (*block_on)(dispatch_object queue, void *work);

#define FOREVER (~0ull)

typedef struct {
    function work;
    void *context;
} call;

// hook_dispatch.c

typedef enum { SERIAL, CONCURRENT, GLOBAL, MAIN } queue_kind;
queue_kind rl_kind_of_queue(dispatch_object queue);

/// Whether there is nothing to wait for any more.
bool rl_has_passed(uint64_t time);

/// The context is a block, which takes no arguments.
void rl_call_block(void *context);

/// Makes a call on a queue, as if the thread that makes it waited for the queue. `work` stands in line
/// for it (`rl_stand_in_line`); NULL: the thread comes for itself.
void rl_run_on_queue(dispatch_object queue, call c, bool barrier, const void *work, rl_place place);

// hook_sending.c

/// A piece of work for a queue.
typedef struct item {
    struct item *next;
    dispatch_object queue;
    call call;
    bool is_block, barrier;
    bool is_known;              // it is a work item that others may wait for, or cancel
    bool is_waited_for;         // by the thread that has sent it (`rl_finished`)
    dispatch_object group;      // to be left when it has been done, or NULL
    uintptr_t pc;               // from where it was sent
} item;

/// Whether a call was made by the code under test, on a thread of the lab, and sends work that the
/// lab can do. (If not, and the work would go on outside of the scenario, there is no verdict.)
bool rl_is_sending(rl_place *place);

item *rl_make_item(dispatch_object queue, call c, rl_place place);
/// The same for a block, with the place from which the entry point was called.
item *rl_make_block_item(dispatch_object queue, void *block, bool barrier, rl_place place, rl_place caller);
void rl_send_item(item *i, rl_place place);
void rl_discard_item(item *i);

/// Does one piece of what was sent to queues between two runs, now. Returns false if there is none that
/// could be done.
bool rl_do_waiting_work(void);

// hook_groups.c

/// The block that a thread is about to call.
typedef struct {
    void *block;
    uintptr_t pc;               // from where it was sent
    bool is_known;              // see `item`
} rl_work_in_hand;

rl_work_in_hand rl_in_hand(void);
/// Returns what was in hand before.
rl_work_in_hand rl_take_in_hand(rl_work_in_hand work);
/// This block is called now, if it is the one in hand.
void rl_begin_work_item(void *block);

/// Whether a block is a work item that the code under test has made, and not one of what calls an
/// entry point for it.
bool rl_passes_work_item(void *block, rl_place caller);

/// What earlier runs have left undone is of no use to the next.
void rl_forget_notifications(void);
void rl_leave_group(dispatch_object group, rl_place place);
/// Whether a block is a `DispatchWorkItem` that was made with the flag `.barrier`.
bool rl_is_barrier(void *block);

#endif
