// A point: here a thread announces what it is about to do, lets other threads run first, and then
// does it.
//
// Real threads run, one at a time. At every point the running thread decides which thread is next
// (decide.c), and hands over only if that is another thread (hand_over.c). When a run is over, the
// thread that ended it judges it, picks the next run and begins it (runs.c). The caller of
// rl_explore (explore.c) only watches for a thread that does not hand over (watcher.c).

#include "Scheduler/points.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/deferred_release.h"
#include "Model/happens_before.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Platform/stack.h"
#include "Scheduler/children.h"
#include "Scheduler/decide.h"
#include "Scheduler/hand_over.h"
#include "Scheduler/jobs.h"
#include "Scheduler/threads.h"
#include "Search/execution.h"
#include "Search/reference_counts.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/blocks.h"
#include "State/shadow.h"

bool rl_keep(void *memory, rl_place place) {
    if (!me || me->fate != STAYS || (me->thread < 0 && lab.kept_count == 0)) return false;
    object_record *o = rl_object_at(memory);
    if (o->is_freed) {
        rl_frees_again(place);
        return true;
    }
    if (me->thread < 0) return false;
    o->is_freed = true;
    rl_freed(memory);
    MAKE_ROOM(lab.kept, lab.kept_count, lab.kept_capacity, 1024);
    lab.kept[lab.kept_count++] = memory;
    rl_clean_stack();
    return true;
}

static void wait_for_turn(void) {
    rl_park(&me->turn, NULL);
    if (me->fate != STAYS) rl_give_up();
}

/// All threads run to their first point before any of them continues, and so does a thread that is
/// started later: only then is its next step known.
static bool came_to_first_point(thread *t, bool is_first) {
    if (is_first && t->starter) {
        worker *starter = t->starter;
        t->starter = NULL;
        rl_hand_over(starter);
        return true;
    }
    if (lab.started_count == lab.first_count) return false;
    rl_assign(rl_next_to_start());
    return true;
}

static void let_others_go_first(int index, thread *t, bool is_first) {
    if (came_to_first_point(t, is_first)) return wait_for_turn();
    if (rl_begin_next_job()) return wait_for_turn();
    int next = rl_decide();
    if (next == NO_THREAD) rl_end_run_with(lab.status);
    if (next == index) return;
    rl_pass_turn(next);
    wait_for_turn();
}

/// Applies the effect of a step to the model. Returns whether the step succeeded.
static bool carry_out(int index, thread *t, uint32_t step) {
    switch ((rl_kind)t->kind) {
        case RL_READ:
        case RL_MODIFY:
            rl_check_access((plain_access){t->kind, t->address, t->pc, step});
            return true;
        case RL_LOCK:
        case RL_TRY_LOCK:
        case RL_SHARED_LOCK:
        case RL_TRY_SHARED_LOCK:
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
        case RL_RECEIVE:
        case RL_AWAIT:
        case RL_TRY_AWAIT:
        case RL_JOIN:
            return rl_take(index, t);
        case RL_ATOMIC_READ:
            rl_read_atomic(t, t->order);
            return true;
        case RL_ATOMIC_WRITE:
            rl_write_atomic(t, t->order, false);
            return true;
        case RL_SIGNAL: {
            lock *semaphore = rl_lock_at(t->address);
            semaphore->count++;
            rl_join_clock(&semaphore->released, &t->clock);
            rl_tick(index);
            return true;
        }
        case RL_ENTER:
            rl_lock_at(t->address)->count++;
            return true;
        case RL_LEAVE: {
            lock *group = rl_lock_at(t->address);
            group->count--;
            rl_join_clock(&group->released, &t->clock);
            rl_tick(index);
            return true;
        }
        case RL_SEND:
            rl_lock_at(t->address)->count++;
            return true;
        case RL_EXCHANGE:  // its effect is known afterwards
        case RL_NOTE:
        case RL_WAIT:
        case RL_WAKE:
        case RL_START:
        case RL_NOTIFY:
        case RL_ARRIVE:
        case RL_RESUME:
        case RL_FINISH:
        case RL_CANCEL:
        case RL_ASK:
        case RL_YIELD:
        case RL_ELAPSE:
        case RL_SUSPENDED:
        case RL_NEXT:
            return true;
    }
    return true;
}

void rl_look_for_loop(thread *t, uintptr_t stack) {
    rl_look_for_spinning(t, stack);
    if (!t->spinning || t->is_vain || !t->missed) return;
    // The attempt came before a release that has now happened.
    rl_is_released(t->missed, false);
    t->missed = NULL;
    rl_has_missed_release(t);
}

static uint32_t point(rl_kind kind, const void *address, rl_place place, bool timed) {
    if (me->fate != STAYS) rl_give_up();
    RL_REQUIRE(lab.running == me, "a thread comes to a point although it is not its turn");
    atomic_fetch_add_explicit(&lab.progress, 1, memory_order_relaxed);
    int index = me->thread;
    thread *t = my_thread();
    if (t->locks_held) rl_notice_unlocks(t);
    if (lab.has_children) rl_look_for_cancelled_children();
    rl_report_last_step(t);
    t->kind = (uint8_t)kind;
    t->address = (uintptr_t)address;
    t->pc = place.pc;
    t->timed = timed;
    t->waits_for = rl_waits_for(kind, t->address);
    // Count it here: the thread may wait for its turn forever.
    t->accesses++;
    bool is_first = !t->started;
    t->started = true;
    // Only the last release of an object runs code.
    for (const rl_release_in_progress *r = t->releases; r; r = r->outer) {
        rl_has_last_reference(r->object);
        rl_is_observed(r->object);
    }
    rl_look_for_loop(t, place.stack);
    if (kind == RL_TRY_LOCK || kind == RL_TRY_SHARED_LOCK) rl_explore_all_choices();
    let_others_go_first(index, t, is_first);
    if (t->idle) return UINT32_MAX;
    return rl_announced_step(index);
}

uint32_t rl_announced_step(int index) {
    thread *t = &lab.threads[index];
    rl_record_phase(RL_IN_THREAD, index);
    uint32_t step = lab.step_count - 1;
    rl_step *record = &lab.steps[step];
    RL_REQUIRE(lab.step_count > 0 && record->thread == index, "the step was granted to another thread");
    t->released_count = 0;
    lab.free_before = rl_free_for(t->address);
    record->kind = t->kind;
    record->address = t->address;
    record->pc = t->pc;
    bool done = carry_out(index, t, step);
    record->failed = !done || t->timed_out;
    record->locks_held = t->locks_held;
    if (t->asleep) rl_is_awake(t);
    t->last_step = (int32_t)step;
    t->unreported = true;
    // The effect of an exchange is known afterwards; a failed attempt has only read.
    if (t->kind == RL_EXCHANGE) return step;
    rl_did(index, done ? t->kind : RL_ATOMIC_READ, t->address, done && !rl_only_reads(t->kind));
    return step;
}

uint32_t rl_point(rl_kind kind, const void *address, rl_place place) {
    const uint32_t step = point(kind, address, place, false);
    rl_clean_stack();
    return step;
}

uint32_t rl_timed_point(rl_kind kind, const void *address, rl_place place) {
    return point(kind, address, place, true);
}

uint32_t rl_atomic_point(rl_kind kind, const void *address, rl_place place, int order) {
    my_thread()->order = order;
    const uint32_t step = point(kind, address, place, false);
    rl_clean_stack();
    return step;
}

bool rl_got_it(uint32_t step) {
    RL_REQUIRE(step < lab.step_count, "there is no such step");
    return !lab.steps[step].failed;
}

void rl_exchanged(uint32_t step, bool done, int order, int order_of_failure) {
    RL_REQUIRE(my_thread()->kind == RL_EXCHANGE, "the last step was no exchange");
    lab.steps[step].failed = !done;
    if (done) return rl_swapped(true, order);
    thread *t = my_thread();
    rl_read_atomic(t, order_of_failure);
    rl_did(me->thread, RL_ATOMIC_READ, t->address, false);
    rl_clean_stack();
}

void rl_swapped(bool changes, int order) {
    int index = me->thread;
    thread *t = &lab.threads[index];
    rl_write_atomic(t, order, true);
    // A thread that writes the same value again publishes what it did before, but it may be
    // spinning.
    rl_did(index, RL_ATOMIC_WRITE, t->address, changes);
    rl_clean_stack();
}

uint32_t rl_note(const void *place) {
    if (!rl_active) return UINT32_MAX;
    return rl_point(RL_NOTE, place, RL_CALLER);
}

// MARK: - Queues of the Swift half

/// The call site of the function that called the function with this frame. Swift code keeps frame
/// pointers.
static rl_place caller_of_caller(void *frame) {
    uintptr_t *caller = *(uintptr_t **)frame;
    return (rl_place){caller[1], (uintptr_t)(caller + 2)};
}

void rl_send(const void *queue, const void *item) {
    if (!me) return;
    rl_place place = caller_of_caller(__builtin_frame_address(0));
    if (rl_active)
        rl_point(RL_SEND, queue, place);
    else
        rl_lock_at((uintptr_t)queue)->count++;
    rl_hand_down(item, place.pc);
}

bool rl_await(const void *queue) {
    rl_place place = RL_CALLER;
    place.pc = 0;
    return rl_active && rl_point(RL_RECEIVE, queue, place) != UINT32_MAX;
}

#endif
