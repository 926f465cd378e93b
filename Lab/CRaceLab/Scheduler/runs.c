#include "Scheduler/runs.h"

#include "Platform/clock.h"
#include "Platform/memory.h"
#include "Platform/program_heap.h"
#include "Platform/recording.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Scheduler/scheduler.h"
#include "Search/execution.h"
#include "Search/loop_trial.h"
#include "Search/reference_counts.h"
#include "Search/spinning.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"
#include "Symbols/lock_helpers.h"

// MARK: - Bodies that are abandoned

void rl_meet_fate(void) {
    if (me->fate == ENDS_RUN) rl_assign(ENGINE);
    if (me->fate == IS_DISMISSED) rl_unpark(&lab.gone);
    if (me->fate == OBSERVES_NO_MORE) rl_end_observation();
}

void rl_dismiss_the_rest(void) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (!t->started || t->finished || !t->on || t->on->fate != STAYS) continue;
        t->on->fate = IS_DISMISSED;
        rl_unpark(&t->on->turn);
        // The thread's real locks must be free before another thread continues.
        rl_park(&lab.gone, NULL);
    }
}

// MARK: - Beginning a run

static void free_what_was_kept(void) {
    for (size_t i = 0; i < lab.run.kept_count; i++) rl_free_of_program(lab.run.kept[i]);
    lab.run.kept_count = lab.run.marks_of_kept = 0;
}

/// Threads that the set-up or the judging of a run started and did not join.
typedef struct {
    pthread_t pthread;
    rl_place place;
} loose_thread;

static struct {
    loose_thread *all;
    size_t count, capacity;
} loose_threads;

RL_OF_RUN(loose_threads)

void rl_meet_thread_of_set_up(pthread_t pthread, rl_place place) {
    MAKE_ROOM(loose_threads.all, loose_threads.count, loose_threads.capacity, 4);
    loose_threads.all[loose_threads.count++] = (loose_thread){pthread, place};
}

void rl_forget_thread_of_set_up(pthread_t pthread) {
    for (size_t i = 0; i < loose_threads.count; i++)
        if (pthread_equal(loose_threads.all[i].pthread, pthread))
            loose_threads.all[i--] = loose_threads.all[--loose_threads.count];
}

const rl_service *rl_services;

/// Calls a function of each service.
#define FOR_EACH_SERVICE(function, ...)                     \
    for (const rl_service *s = rl_services; s; s = s->next) \
        if (s->function) s->function(__VA_ARGS__)

static void finish_work(void) {
    FOR_EACH_SERVICE(code_has_ended);
    if (loose_threads.count > 0)
        rl_meet_outside("starts a thread outside of the threads of the scenario",
                        loose_threads.all[0].place);
    loose_threads.count = 0;
}

/// Whether the set-up or the judging caused effects outside the scenario.
static bool went_outside(void) {
    if (!lab.run.outside) return false;
    rl_exploration.summary.status = RL_OUTSIDE;
    rl_exploration.summary.outside = lab.run.outside;
    rl_exploration.summary.outside_pc = lab.run.outside_pc;
    return true;
}

static void begin_delayed_work(void) {
    for (int i = 0; i < lab.run.thread_count; i++) rl_make_thread(i);
    FOR_EACH_SERVICE(threads_begin);
}

void rl_add_thread_of_set_up(void (*body)(void *argument), void *argument) {
    RL_REQUIRE(rl_is_between_runs_here(), "the threads run already");
    if (lab.run.thread_count == 0) return;  // there will be no run
    if (lab.run.thread_count == RL_MAX_THREADS)
        return rl_meet_outside("has more work done later than there is room for", RL_CALLER);
    rl_make_thread(lab.run.thread_count);
    lab.run.threads[lab.run.thread_count].own_body = body;
    lab.run.threads[lab.run.thread_count++].argument = argument;
}

static bool begin_run(void) {
    rl_record_phase(RL_SETTING_UP, NO_THREAD);
    rl_record_steps(0);
    if (rl_recording) {
        rl_recording->runs = rl_exploration.summary.runs;
        rl_recording->redundant = rl_exploration.summary.redundant;
    }
    rl_end_run_in_trial();
    rl_begin_state_of_run();
    lab.run.is_first = rl_exploration.summary.runs + rl_exploration.summary.redundant == 0 &&
                       !rl_exploration.scenario->schedule;
    rl_begin_execution();
    if (rl_exploration.scenario->stepped) rl_note_objects();
    lab.run.is_setting_up = true;
    lab.run.thread_count = rl_exploration.scenario->set_up(rl_exploration.scenario->context);
    lab.run.is_setting_up = false;
    finish_work();
    if (!rl_makes_progress()) rl_give_up();
    if (went_outside()) return false;
    begin_delayed_work();
    if (went_outside()) return false;
    lab.run.first_count = lab.run.thread_count;
    if (rl_recording) rl_recording->tasks = rl_recording->queue_threads = 0;
    if (rl_recording) rl_recording->thread_count = (uint32_t)lab.run.thread_count;
    return lab.run.thread_count > 0;
}

/// Where a thread waits. In the runtime, that is after its last step.
static uintptr_t place_of_wait(const thread *t) {
    return t->pc || t->last_step < 0 ? t->pc : lab.steps[t->last_step].pc;
}

static rl_waiting waiting_of(const thread *t) {
    // The alarm of a task that sleeps in vain is no more than a part of that task.
    rl_waiting w = {.finished = t->finished || (t->sleeper && t->spinning),
                    .spinning = t->spinning,
                    .busy = rl_is_busy(t),
                    .holder = NO_THREAD,
                    .kind = t->kind,
                    .address = t->address,
                    .pc = place_of_wait(t)};
    if (t->is_away) {
        t->describe(t, &w);
        return w;
    }
    const rl_operation *o = t->operation;
    if (t->asleep && !o->is_woken(t)) w.kind = RL_WAIT;
    if (t->finished || !o) return w;
    w.in_line = o->is_in_line && o->is_in_line(t);
    w.queue = o->queue ? o->queue(t) : NULL;
    if (w.kind != RL_WAIT && o->holder) w.holder = (int8_t)o->holder(t, &w.holder_pc);
    return w;
}

void rl_fill_in(rl_run *run) {
    run->status = lab.run.status;
    run->thread_count = (uint32_t)lab.run.thread_count;
    for (int i = 0; i < lab.run.thread_count; i++) {
        if (lab.run.threads[i].is_task) run->tasks |= set_of(i);
        if (lab.run.threads[i].serves_queue) run->queue_threads |= set_of(i);
    }
    run->step_count = lab.run.step_count;
    run->steps = lab.steps;
    run->forced_switches = lab.run.preemptions;
    run->switches = 0;
    for (uint32_t k = 1; k < lab.run.step_count; k++)
        run->switches += lab.steps[k].thread != lab.steps[k - 1].thread;
    run->race_count = (uint32_t)lab.run.race_count;
    run->races = lab.run.races;
    run->misfit_step = lab.run.misfit_step;
    run->misfit_thread = lab.run.misfit_thread;
    run->misfit_early = lab.run.misfit_early;
    run->blocked_thread = NO_THREAD;
    run->judge_waits = lab.run.judge_waits;
    run->judge = lab.run.judge;
    run->object_count = rl_noted_objects(&run->objects);
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        run->accesses[i] = t->accesses + t->modifies;
        run->waiting[i] = waiting_of(t);
    }
}

void rl_judge_waits_forever(const rl_operation *o, const void *address, rl_place place) {
    const bool judges = lab.run.is_judging && rl_is_between_runs_here() && me->fate == STAYS;
    const bool is_alone = !lab.run.outside && loose_threads.count == 0;
    if (!judges || !is_alone || rl_is_ignoring() || !rl_is_call_of_program(&place)) return;
    lab.run.judge = (rl_waiting){.holder = NO_THREAD,
                                 .kind = (uint8_t)o->kind,
                                 .address = (uintptr_t)address,
                                 .pc = rl_call_of_helper(place).pc};
    static thread waiter;
    waiter.waits_for = rl_lock_at((uintptr_t)address);
    lab.run.judge.holder = (int8_t)o->holder(&waiter, &lab.run.judge.holder_pc);
    lab.run.judge_waits = true;
    rl_end_run_with(RL_DEADLOCK);
}

static bool ends_exploration(void) {
    return lab.run.status == RL_NOT_THE_SAME || lab.run.status == RL_MISFIT ||
           lab.run.status == RL_TOO_LONG || lab.run.status == RL_TOO_MANY ||
           lab.run.status == RL_OUTSIDE;
}

static bool runs_only_this(void) {
    return rl_exploration.scenario->schedule && !rl_exploration.scenario->beyond;
}

/// Judges the run that has just ended, unless it is redundant. Returns whether to continue.
static bool judge_run(void) {
    bool go_on = true;
    if (lab.run.redundant) {
        rl_exploration.summary.redundant++;
    } else {
        const bool is_new = lab.run.status != RL_NOT_THE_SAME && lab.run.status != RL_MISFIT;
        if (is_new && !lab.run.judge_waits) rl_exploration.summary.runs++;
        rl_run run = {0};
        rl_fill_in(&run);
        rl_record_phase(RL_JUDGING, NO_THREAD);
        lab.run.is_judging = lab.run.status == RL_COMPLETE;
        go_on = rl_exploration.scenario->finished(rl_exploration.scenario->context, &run);
        lab.run.is_judging = false;
        finish_work();
    }
    FOR_EACH_SERVICE(run_is_over);
    if (!rl_makes_progress()) rl_give_up();
    if (rl_recording) rl_recording->runs = rl_exploration.summary.runs;
    free_what_was_kept();
    if (ends_exploration()) rl_exploration.summary.status = lab.run.status;
    if (went_outside()) return false;
    if (lab.run.has_more_steps) return !(rl_exploration.summary.starts_again = true);
    return !ends_exploration() && go_on && !runs_only_this();
}

/// Returns whether to continue after the run that has just ended.
static bool end_run(void) {
    // The code that judged it has been abandoned. Everything else is done.
    if (lab.run.judge_waits) return judge_run();
    if (lab.run.status != RL_COMPLETE) rl_dismiss_the_rest();
    FOR_EACH_SERVICE(threads_have_ended, lab.run.status == RL_COMPLETE);
    if (!ends_exploration() && !lab.run.listens_to_counts && rl_place_that_observes()) {
        lab.run.outside = RL_RETAINS_AND_RELEASES;
        lab.run.outside_pc = rl_place_that_observes();
    }
    const bool is_too_weak =
        rl_exploration.scenario->finds_weak_orderings && rl_exploration.summary.has_weak_orderings;
    const bool learns = !ends_exploration() && !runs_only_this() && !lab.run.outside;
    if (lab.run.has_more_steps || (learns && (is_too_weak || !rl_learn()))) {
        rl_exploration.summary.starts_again = true;
        if (lab.run.is_first && rl_exploration.scenario->started_over) {
            rl_run run = {0};
            rl_fill_in(&run);
            rl_exploration.scenario->started_over(rl_exploration.scenario->context, &run);
        }
        FOR_EACH_SERVICE(run_is_over);
        free_what_was_kept();
        return false;
    }
    return judge_run();
}

static rl_bound bound_reached(void) {
    const rl_scenario *s = rl_exploration.scenario;
    const uint64_t executed = rl_exploration.summary.runs + rl_exploration.summary.redundant;
    if (rl_exploration.summary.runs >= s->max_runs) return RL_BOUND_RUNS;
    if (s->max_executed && executed >= s->max_executed) return RL_BOUND_EXECUTED;
    if (s->max_milliseconds && rl_milliseconds() - rl_exploration.began >= s->max_milliseconds)
        return RL_BOUND_TIME;
    return RL_NO_BOUND;
}

static void report_progress(void) {
    if (!rl_exploration.scenario->progressed) return;
    const int64_t now = rl_milliseconds();
    if (now - rl_exploration.reported < 1000) return;
    rl_exploration.reported = now;
    rl_exploration.scenario->progressed(rl_exploration.scenario->context,
                                        rl_exploration.summary.runs,
                                        rl_exploration.summary.redundant);
}

int rl_next_run(void) {
    if (!rl_exploration.begun) {
        rl_exploration.begun = true;
        rl_begin_with_given_schedule();
    } else {
        const bool go_on = end_run();
        rl_exploration.current = NULL;
        if (go_on) rl_choose();
        report_progress();
        if (rl_exploration.current &&
            (rl_exploration.summary.bound = bound_reached()) != RL_NO_BOUND) {
            if (rl_exploration.scenario->reached_bound)
                rl_exploration.scenario->reached_bound(rl_exploration.scenario->context);
            rl_exploration.current = NULL;
        }
        if (!rl_exploration.current) return NO_THREAD;
    }
    if (!begin_run()) return NO_THREAD;
    return rl_next_to_start();
}
