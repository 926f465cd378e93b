// The workers: operating-system threads that run bodies of scenario threads one after another.

#include "Scheduler/scheduler.h"

#include "Model/locks.h"
#include "Platform/recording.h"
#include "Platform/stack.h"
#include "Scheduler/observe.h"
#include "Scheduler/runs.h"

static void run_body(int index) {
    thread *t = &lab.run.threads[index];
    t->on = me;
    me->thread = index;
    rl_record_phase(RL_IN_THREAD, index);
    me->stack_base = (uintptr_t)__builtin_frame_address(0);
    rl_clean_whole_stack();
    if (t->own_body) {
        rl_listen();
        t->own_body(t->argument);
        rl_deafen();
    } else {
        rl_exploration.scenario->body(rl_exploration.scenario->context, index);
    }
    if (!rl_makes_progress()) {
        me->thread = NO_THREAD;
        rl_give_up();
    }
    if (t->leave) return t->leave(index);  // it is a task, which continues when its job begins
    me->thread = NO_THREAD;
    rl_notice_unlocks(t);
    rl_notice_own_lock();
    rl_report_last_step(t);
    t->started = t->finished = true;
}

/// Runs at the end of a body. Returns what this worker does next.
static int after_body(void) {
    if (lab.run.started_count < lab.run.first_count) return rl_next_to_start();
    if (rl_has_next_job()) {
        rl_become_idle();
        rl_begin_next_job();
        return NO_THREAD;
    }
    int next = rl_decide();
    if (next == NO_THREAD) return ENGINE;
    rl_become_idle();
    rl_pass_turn(next);
    return NO_THREAD;
}

void *rl_work(void *argument) {
    rl_begin_work(argument);
    me->stack_base = (uintptr_t)__builtin_frame_address(0);
    if (setjmp(me->base.at)) {
        rl_meet_fate();
        return NULL;
    }
    for (;;) {
        rl_park(&me->turn, NULL);
        rl_bind_to_processor(me);
        int task = me->assigned;
        while (task != NO_THREAD) {
            atomic_fetch_add_explicit(&lab.progress, RL_PROGRESS, memory_order_relaxed);
            if (task == ENGINE) {
                task = rl_next_run();
                if (task != NO_THREAD) continue;
                rl_become_idle();
                rl_unpark(&lab.done);
            } else if (task == OBSERVER) {
                rl_make_observation();
                task = NO_THREAD;
                rl_become_idle();
                rl_end_observation();
            } else {
                if (task == JOB)
                    lab.run_job();
                else
                    run_body(task);
                task = after_body();
            }
        }
    }
}
