// Tasks of Swift concurrency: which of them the running operating-system thread runs.
//
// A task is one more thread of the interleaving, but it has no operating-system thread of its own:
// the runtime cuts it into jobs, and any idle worker runs a job. So the runtime reports which task
// a worker runs (`rl_job_begins`), and vector clocks, tables and choices refer to the task only.
//
// Actors are not modeled. The runtime queues the tasks that wait for an actor; the lab decides when
// a task arrives. A job that was sent begins at once, before any other decision, and runs up to its
// first point: no other thread can observe what it does until then. The choice of the worker is not
// part of the schedule either.
//
// A context switch is possible before a task arrives at an actor, is resumed, ends, is cancelled or
// checks for cancellation, before it queues up again after a yield, and before it wakes from a
// sleep. Leaving an actor is part of the previous step, like the release of a lock.

#include "Primitives/task.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/delays.h"
#include "Model/locks.h"
#include "Platform/recording.h"
#include "Primitives/points.h"
#include "Primitives/thread.h"
#include "Scheduler/outside.h"
#include "Scheduler/scheduler.h"
#include "Search/execution.h"
#include "Search/loop_trial.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/blocks.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#include <string.h>

/// The kinds of job that occur, with the runtime's numbers.
enum { TASK = 0, ACTOR_WORK = 193, YIELD = 195 };

static uint8_t kind_of(const void *job) { return ((const uint8_t *)job)[4 * sizeof(void *)]; }

static void describe(const thread *t, rl_waiting *waiting);
static void run_job(void);
static void leave_thread(int index);
static uintptr_t place_of_suspension(const thread *t);

// MARK: - Operations

static const rl_operation arrive = {.kind = RL_ARRIVE};
static const rl_operation finish = {.kind = RL_FINISH};
static const rl_operation yield_again = {.kind = RL_YIELD};
static const rl_operation wake_up = {.kind = RL_ELAPSE, .is_woken = rl_can_end_delay};

// MARK: - Tasks and their addresses

static void begin_task(int index, const void *task) {
    thread *t = &lab.run.threads[index];
    t->is_task = true;
    if (rl_recording) rl_recording->tasks |= set_of(index);
    t->describe = describe;
    t->leave = leave_thread;
    lab.run_job = run_job;
    t->task = (uintptr_t)task;
    rl_note_priority(t);
    // The runtime allocates the first frame together with the task.
    const block_of_memory *b = rl_block_with(my_thread(), (uintptr_t)task);
    if (b) rl_add_frame(t, b->start, b->size);
}

static int new_task(const void *task) {
    int index = me->thread;
    if (me->becomes_task) {
        me->becomes_task = false;
    } else {
        index = rl_add_thread();
        lab.run.threads[index].is_away = true;
    }
    begin_task(index, task);
    thread *t = &lab.run.threads[index];
    if (me->is_creating) t->actor = me->creates_on;
    if (!me->is_creating || index == me->thread) return index;
    t->pc = me->creates_at;
    if (me->creates_child) rl_has_child(index);
    return index;
}

void rl_becomes_task(void) {
    me->becomes_task = true;
    my_thread()->is_task = true;
    my_thread()->describe = describe;
    my_thread()->leave = leave_thread;
}

bool rl_begins_job(void) { return me && me->is_deaf && me->thread == NO_THREAD; }

void rl_send_job(void *job, void (*work)(void *), rl_place place) {
    const int index = kind_of(job) == TASK ? rl_task_at(job) : NO_THREAD;
    thread *t = my_thread();
    if (index != NO_THREAD || kind_of(job) == ACTOR_WORK) return rl_add_job(job, work, index);
    if (kind_of(job) != YIELD || !t->is_task || t->work_of_yield)
        return rl_meet_task_outside(place);
    // The job will resume this task, but the task has to be suspended first.
    t->yield = job;
    t->work_of_yield = work;
}

/// A task that is away continues with this step when its job runs.
static void continues_with(thread *t, const rl_operation *o, uintptr_t address, uintptr_t pc) {
    t->operation = o;
    t->chooses_value = false;
    t->kind = (uint8_t)o->kind;
    t->address = address;
    t->pc = pc;
    t->waits_for = NULL;
    t->timed = false;
    t->started = true;
    t->is_away = false;
}

// MARK: - Sleeping

// A task can wake up at any moment, but see delays.c for which one wakes up first. A task that sleeps
// again and again until something changes spins, like one that yields.

static const uint64_t never = ~0ull;

/// The runtime makes a task for each sleep. Those that wake up the same task are one thread, unless
/// it was cancelled and an earlier one still runs.
static int alarm_for(thread *sleeper, const void *job) {
    thread *alarm = sleeper->alarm;
    const bool is_over = alarm && alarm->finished && alarm->is_ending;
    const int index = is_over ? (int)(alarm - lab.run.threads) : new_task(job);
    if (is_over) {
        alarm->finished = alarm->is_ending = false;
        alarm->frame_count = 0;
        begin_task(index, job);
    }
    sleeper->alarm = &lab.run.threads[index];
    sleeper->alarm->sleeper = sleeper;
    sleeper->falls_asleep = true;
    return index;
}

void rl_send_job_later(void *job, void (*work)(void *), uint64_t time, bool is_of_runtime) {
    my_thread()->accesses++;
    int index = rl_task_at(job);
    if (index == NO_THREAD)
        index = is_of_runtime && my_thread()->is_task ? alarm_for(my_thread(), job) : new_task(job);
    thread *t = &lab.run.threads[index];
    t->is_of_runtime = is_of_runtime;
    t->job = job;
    t->work = work;
    const bool time_matters = rl_exploration.scenario->matters.time;
    continues_with(t, &wake_up, time_matters ? RL_CLOCK : (uintptr_t)t, my_thread()->pc);
    t->finished = time == never;
    if (!t->finished) rl_begin_delay(t, time);
    if (time_matters) rl_runtime_did(RL_FALL_ASLEEP, RL_CLOCK, 0);
    rl_note_order(index);
    rl_release_clock(job);
}

// MARK: - The task of a worker

/// Runs a job that was sent, or a job with which the next step of a task begins.
static void run_job(void) {
    me->runs_jobs = true;
    me->base_thread = NO_THREAD;
    me->stack_base = (uintptr_t)__builtin_frame_address(0);
    memset(&me->before_job, 0, sizeof me->before_job);
    me->left_in = 0;
    rl_listen();
    if (me->thread >= 0) {
        thread *t = my_thread();
        t->work = NULL;
        t->lane = me;
        rl_announced_step(me->thread);
        if (t->kind == RL_ELAPSE) rl_end_delay();
        t->is_yielding = t->kind == RL_YIELD;
    } else {
        me->is_deaf = true;
        rl_ignore();
    }
    me->job_work(me->job);
    rl_continue_giving_up();
    if (me->thread >= 0) leave_thread(me->thread);
    if (me->is_deaf) rl_attend();
    me->is_deaf = false;
    rl_deafen();
    me->runs_jobs = false;
}

static bool asks_for_element(const thread *t) {
    return t->last_step >= 0 && lab.steps[t->last_step].element;
}

/// The task on an actor, or the main thread on the main actor.
static int holder_of(uintptr_t actor) {
    for (int i = 0; actor && i < lab.run.thread_count; i++) {
        const thread *t = &lab.run.threads[i];
        if (t->actor == actor && t->on && !t->is_away && !t->finished) return i;
    }
    return NO_THREAD;
}

/// What a suspended task waits for.
static void describe(const thread *t, rl_waiting *waiting) {
    waiting->kind = t->is_enqueued ? RL_ARRIVE : asks_for_element(t) ? RL_NEXT : RL_SUSPENDED;
    waiting->address = t->actor;
    waiting->pc = place_of_suspension(t);
    waiting->begun = t->lane;
    if (waiting->kind == RL_ARRIVE) waiting->holder = (int8_t)holder_of(t->actor);
}

/// A recursive lock belongs to a thread. A task may continue on another one, which cannot release
/// the lock; and meanwhile, another task on the same thread may take it again.
static void refuse_locks_of_suspended(thread *t) {
    if (!rl_holds_lock_of_thread(t) || t->is_ending || me->fate != STAYS) return;
    rl_meet_outside("keeps a recursive lock while it is suspended",
                    (rl_place){place_of_suspension(t), 0});
}

/// The task is suspended until its alarm wakes it up.
static void look_at_sleep(thread *t) {
    const uintptr_t *task = (const uintptr_t *)t->task;
    t->falls_asleep = false;
    const bool depends_on_time = t->has_read_clock;
    t->has_read_clock = false;
    if (depends_on_time) return rl_forget_visits(t);
    t->sleeps = 0;
    t->kind = RL_YIELD;
    t->address = t->task;
    t->pc = place_of_suspension(t);
    t->asleep_above = (uintptr_t)rl_awaited_context((const uintptr_t *)task[8]);
    rl_look_for_loop(t, 0);
    t->asleep_above = 0;
}

static void leave_thread(int index) {
    thread *t = &lab.run.threads[index];
    rl_notice_unlocks(t);
    rl_notice_own_lock();
    refuse_locks_of_suspended(t);
    rl_look_for_cancelled_children();
    rl_report_last_step(t);
    if (rl_has_fault(RL_FAULT_LANES_ORDER_TASKS)) rl_join_clock(&me->last_job, &t->clock);
    rl_advance(t);
    me->thread = NO_THREAD;
    t->on = NULL;
    t->lane = me;
    t->finished = t->is_ending;
    t->is_away = !t->finished;
    if (t->is_away && asks_for_element(t)) lab.steps[t->last_step].element = RL_WAITS;
    if (t->finished) t->started = true;
    if (t->is_away && t->falls_asleep) look_at_sleep(t);
    if (!t->is_away || !t->work_of_yield) return;
    t->job = t->yield;
    t->work = t->work_of_yield;
    t->work_of_yield = NULL;
    t->accesses++;
    continues_with(t, &yield_again, t->left ? t->left : t->task, place_of_suspension(t));
    rl_look_for_loop(t, 0);
}

/// A job runs in the body of this thread, which continues afterwards.
static void become_away(int index) {
    rl_notice_unlocks(&lab.run.threads[index]);
    rl_notice_own_lock();
    rl_report_last_step(&lab.run.threads[index]);
    lab.run.threads[index].is_away = true;
    lab.run.threads[index].describe = describe;
}

/// Makes the task the one that this worker runs.
static void enter_thread(int index) {
    thread *t = &lab.run.threads[index];
    const int before = me->thread;
    if (before != NO_THREAD) {
        // Consecutive jobs on the same actor or the main queue, or a job within a call.
        rl_join_clock(&t->clock, &lab.run.threads[before].clock);
        rl_advance(&lab.run.threads[before]);
        rl_leaves_actor(t->actor);
        if (before != me->base_thread)
            leave_thread(before);
        else
            become_away(before);
    }
    rl_join_clock(&t->clock, &me->before_job);
    if (rl_has_fault(RL_FAULT_LANES_ORDER_TASKS)) rl_join_clock(&t->clock, &me->last_job);
    memset(&me->before_job, 0, sizeof me->before_job);
    me->thread = index;
    t->on = me;
    t->lane = me;
    t->jobs++;
    t->is_away = t->is_enqueued = t->is_sent = false;
    t->is_arriving = t->is_yielding = false;
    rl_note_order(index);
    rl_note_order_from(me->left_in, index);
    me->left_in = 0;
    rl_record_phase(RL_IN_THREAD, index);
    if (me->is_deaf) rl_attend();
    me->is_deaf = false;
}

void rl_job_begins(const void *job, rl_place place) {
    if (!me || me->fate != STAYS) return;
    me->job_frame = ((const uintptr_t *)place.stack)[-2];
    if (kind_of(job) != TASK) return rl_runtime_acquires(job);
    if (!me->runs_jobs) {
        if (rl_controls_tasks())
            rl_meet_outside("runs a task on an executor of the program's own",
                            rl_place_of_await(place));
        return;
    }
    const int index = rl_task_at(job);
    if (index == NO_THREAD) return rl_meet_outside("runs a task that was started elsewhere", place);
    if (index == me->thread && lab.run.threads[index].kind == RL_ELAPSE &&
        lab.run.threads[index].on == me) {
        rl_runtime_acquires(job);
        return;
    }
    if (me->thread == index) leave_thread(index);
    enter_thread(index);
    rl_join_clock(&lab.run.threads[index].clock, &rl_cell_at((uintptr_t)job)->released);
}

void rl_run_job_here(void *job, void (*work)(void *)) {
    const int outer = me->thread, base = me->base_thread;
    const bool runs_jobs = me->runs_jobs;
    const uintptr_t job_frame = me->job_frame;
    me->base_thread = outer;
    me->runs_jobs = true;
    work(job);
    rl_continue_giving_up();
    me->base_thread = base;
    me->runs_jobs = runs_jobs;
    me->job_frame = job_frame;
    if (me->thread == outer) return;
    const int inner = me->thread;
    if (inner != NO_THREAD) {
        rl_join_clock(&lab.run.threads[outer].clock, &lab.run.threads[inner].clock);
        leave_thread(inner);
    }
    me->thread = outer;
    rl_record_phase(RL_IN_THREAD, outer);
    lab.run.threads[outer].is_away = false;
    rl_note_order(outer);
}

bool rl_is_in_enqueue(const void *job) {
    const int index = kind_of(job) == TASK ? rl_task_at(job) : NO_THREAD;
    return index != NO_THREAD && lab.run.threads[index].on && !lab.run.threads[index].is_away;
}

void rl_meet_task(const void *task) {
    if (rl_task_at(task) == NO_THREAD) {
        const int index = new_task(task);
        // A child that begins at once is in no queue before.
        if (me->creates_child) rl_has_child(index);
    }
    rl_release_clock(task);
}

// MARK: - Creating and ending tasks

void rl_creates_task(uintptr_t actor, bool is_child, rl_place place) {
    me->is_creating = true;
    me->creates_child = is_child;
    me->creates_on = actor;
    me->creates_at = place.pc;
    if (!me->becomes_task) my_thread()->accesses++;
    const bool is_first = !my_thread()->started && !my_thread()->is_task;
    if (is_first && !actor) rl_announce_start(place);
    if (actor) rl_point(&arrive, (const void *)actor, place);
}

void rl_created_task(void) { me->is_creating = false; }

void rl_job_is_enqueued(const void *job, rl_place place) {
    if (kind_of(job) != TASK) {
        if (kind_of(job) != ACTOR_WORK && kind_of(job) != YIELD)
            rl_meet_outside("has the runtime do work that is no task, as an isolated deinit does",
                            rl_place_of_await(place));
        return;
    }
    int index = rl_task_at(job);
    if (index == NO_THREAD && !me->is_creating)
        return rl_meet_task_outside(rl_place_of_await(place));
    if (index == NO_THREAD) {
        index = new_task(job);
    } else if (index != me->thread) {
        rl_runtime_did(RL_RESUME, (uintptr_t)job, 0);
        if (lab.run.threads[index].left) rl_runtime_did(RL_ARRIVE, lab.run.threads[index].left, 0);
    }
    lab.run.threads[index].is_enqueued = true;
    if (index == me->thread) lab.run.threads[index].is_sent = true;
    rl_note_order(index);
}

void rl_arrives(uintptr_t actor, uintptr_t pc) {
    const uint32_t step = rl_point(&arrive, (const void *)actor, (rl_place){pc, me->body});
    const int holder = holder_of(actor);
    // A task that is on the actor already stays there.
    lab.steps[step].holder = (int8_t)(holder == me->thread ? NO_THREAD : holder);
    my_thread()->is_arriving = true;
}

void rl_task_ends(const void *task) {
    thread *t = my_thread();
    if (t->task != (uintptr_t)task) return;
    if (t->is_of_runtime) {
        rl_runtime_did(RL_FINISH, rl_family_of(me->thread), 0);
    } else {
        rl_point(&finish, (const void *)rl_family_of(me->thread), (rl_place){0, me->body});
        t->accesses--;
    }
    rl_runtime_did(RL_FINISH, (uintptr_t)task, 0);
    rl_release_clock(task);
    t->is_ending = true;
}

bool rl_is_other_task(const void *task) {
    const int index = rl_task_at(task);
    return index != NO_THREAD && index != me->thread;
}

static uintptr_t place_of_suspension(const thread *t) {
    if (t->task == 0 || t->finished || !t->lane) return t->pc;
    const uintptr_t *task = (const uintptr_t *)t->task;
    const bool is_of_program = rl_is_under_test(task[7]);
    if (is_of_program && !rl_is_compilers_own(task[7] + 1)) return task[7] + 1;
    // The code of `withUnsafeContinuation` has no lines: show its caller.
    const uintptr_t pc = rl_place_in_contexts((const uintptr_t *)task[8]);
    return pc ? pc : is_of_program ? task[7] + 1 : t->pc;
}

#endif
