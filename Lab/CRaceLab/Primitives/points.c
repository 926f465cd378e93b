// A point: here a thread announces what it is about to do, lets other threads run first, and then
// does it.
//
// Real threads run, one at a time. At every point the running thread decides which thread is next
// (decide.c), and hands over only if that is another thread (hand_over.c). When a run is over, the
// thread that ended it judges it, picks the next run and begins it (runs.c). The caller of
// rl_explore (explore.c) only watches for a thread that does not hand over (watcher.c).

#include "Primitives/points.h"

#include "Model/deferred_release.h"
#include "Model/locks.h"
#include "Model/old_values.h"
#include "Platform/recording.h"
#include "Platform/stack.h"
#include "Scheduler/outside.h"
#include "Scheduler/scheduler.h"
#include "Search/execution.h"
#include "Search/loop_trial.h"
#include "Search/reference_counts.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/shadow.h"
#include "Symbols/lock_helpers.h"

#include <errno.h>
#include <setjmp.h>
#include <string.h>

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
    if (lab.run.started_count == lab.run.first_count) return false;
    rl_assign(rl_next_to_start());
    return true;
}

static void let_others_go_first(int index, thread *t, bool is_first) {
    if (came_to_first_point(t, is_first)) return wait_for_turn();
    if (rl_begin_next_job()) return wait_for_turn();
    int next = rl_decide();
    if (next == NO_THREAD) rl_end_run_with(lab.run.status);
    if (next == index) return;
    rl_pass_turn(next);
    wait_for_turn();
}

/// Applies the effect of a step to the model. Returns whether the step succeeded.
static bool carry_out(thread *t) {
    const rl_operation *o = t->operation;
    if (o->is_available) {
        // A thread that slept on a condition takes its lock back even if its wait timed out.
        if (t->timed_out && !t->asleep) return false;
        if (t->early || !o->is_available(t)) return false;
    }
    if (o->carry_out) o->carry_out(t);
    return true;
}

void rl_look_for_loop(thread *t, uintptr_t stack) {
    t->stack = stack;
    jmp_buf registers;
    memset(&registers, 0, sizeof registers);
    (void)_setjmp(registers);
    rl_look_for_spinning(t, stack, (const uint64_t *)registers);
    if (rl_has_too_many_loops())
        rl_meet_outside("waits in more loops than the lab has room for",
                        (rl_place){t->pc, t->stack});
    if (!t->spinning || t->is_vain || !t->missed) return;
    // The attempt came before a release that has now happened.
    rl_is_released(t->missed, false);
    rl_note_effect(RL_ATOMIC_WRITE, rl_missed_releases_of(t->missed->address), 0);
    t->missed = NULL;
    rl_has_missed_release(t);
}

static uint32_t point(const rl_operation *o, const void *address, rl_place place, bool timed) {
    if (!rl_makes_progress()) rl_give_up();
    RL_REQUIRE(lab.running == me, "a thread comes to a point although it is not its turn");
    int index = me->thread;
    thread *t = my_thread();
    if (t->locks_held) rl_notice_unlocks(t);
    rl_notice_own_lock();
    if (lab.run.step_ended) lab.run.step_ended();
    for (size_t i = 0; i < t->open_count; i++) rl_did_within(t, &t->open[i], false);
    rl_report_last_step(t);
    t->operation = o;
    t->kind = (uint8_t)o->kind;
    t->chooses_value = o->chooses_value;
    t->address = (uintptr_t)address;
    t->pc = o->has_record ? rl_call_of_helper(place).pc : place.pc;
    t->timed = timed;
    t->waits_for = o->has_record ? rl_lock_at(t->address) : NULL;
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
    // The calls with which the engine lets another thread run have errors of their own.
    const int error = errno;
    let_others_go_first(index, t, is_first);
    errno = error;
    if (t->idle) return UINT32_MAX;
    return rl_announced_step(index);
}

/// Whether a wait has succeeded although its time was over: what it waited for came only after
/// others had slept for longer. When waits time out, the earliest one does first, see decide.c.
static void note_whether_late(thread *t, bool has_succeeded) {
    const uint64_t latest = t->latest;
    t->latest = 0;
    if (latest > 0 && has_succeeded && t->clock.slept > latest && !rl_gives(RL_LIBERTY_TIME_OUTS))
        rl_doubt("waits beyond its time limit, unless timeOutsFireAtAnyTime lets it give up",
                 (rl_place){.pc = t->pc});
}

uint32_t rl_announced_step(int index) {
    thread *t = &lab.run.threads[index];
    rl_record_phase(RL_IN_THREAD, index);
    uint32_t step = lab.run.step_count - 1;
    rl_step *record = &lab.steps[step];
    RL_REQUIRE(lab.run.step_count > 0 && record->thread == index,
               "the step was granted to another thread");
    t->released_count = 0;
    t->quiet_at = t->accesses;
    lab.run.free_before = rl_free_for(t->address);
    record->kind = t->kind;
    record->address = t->address;
    record->pc = t->pc;
    bool done = carry_out(t);
    if (rl_exploration.scenario->keeps_stores && !t->operation->is_atomic)
        rl_note_other_step(index);
    record->failed = !done || t->timed_out;
    if (t->timed_out) rl_wait_until(t->deadline);
    note_whether_late(t, !record->failed);
    record->locks_held = t->locks_held;
    t->last_step = (int32_t)step;
    t->unreported = true;
    if (t->operation->completes_later) return step;
    // A failed attempt has only read.
    rl_did(index, done ? t->kind : RL_ATOMIC_READ, t->address, done && !rl_only_reads(t->kind));
    if (t->early) rl_misses_release(index, record->before);
    if (record->failed) rl_attempt_fails(t);
    return step;
}

uint32_t rl_point(const rl_operation *operation, const void *address, rl_place place) {
    const uint32_t step = point(operation, address, place, false);
    rl_clean_stack();
    return step;
}

uint32_t rl_timed_point(const rl_operation *operation, const void *address, rl_place place,
                        uint64_t deadline) {
    thread *t = my_thread();
    t->deadline = deadline;
    t->latest = deadline < UINT64_MAX - RL_SAME_MOMENT ? deadline + RL_SAME_MOMENT : 0;
    return point(operation, address, place, true);
}

bool rl_got_it(uint32_t step) {
    RL_REQUIRE(step < lab.run.step_count, "there is no such step");
    return !lab.steps[step].failed;
}
