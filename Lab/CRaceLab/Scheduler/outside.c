#include "Scheduler/outside.h"

#include "Scheduler/operation.h"
#include "Search/spinning.h"
#include "State/shadow.h"

/// Whether a thread outside the scenario has resumed a task.
static _Atomic bool outside_resumes;

RL_OF_RUN(outside_resumes)

void rl_meet_outside(const char *what, rl_place place) {
    // A lost thread may go on during another exploration, which it does not concern.
    if (me->fate != STAYS) return;
    if (!lab.run.outside) {
        lab.run.outside = what;
        lab.run.outside_pc = place.pc;
    }
    // Ends the run only where accesses are steps. Elsewhere the runtime may be in the middle of an
    // operation that must complete.
    if (me->thread >= 0 && rl_active) rl_end_run_with(RL_OUTSIDE);
}

void rl_doubt(const char *what, rl_place place) {
    if (rl_exploration.summary.doubt) return;
    rl_exploration.summary.doubt = what;
    rl_exploration.summary.doubt_pc = place.pc;
}

void rl_meet_task_outside(rl_place place) {
    rl_meet_outside(rl_is_between_runs_here()
                        ? "starts or resumes a task while the scenario is set up or checked"
                        : "starts or resumes a task, which runs outside of the scenario",
                    place);
}

void rl_made(const void *object) {
    // A global outlives the run, even if the run initializes it.
    if (!me || me->fate != STAYS || rl_is_ignoring()) return;
    rl_object_at(object)->is_made = true;
}

void rl_foreign_thread_resumes(const void *task) {
    // Called at any time, also while a run begins.
    const thread *threads = lab.run.threads;
    for (int i = 0; threads && i < lab.run.thread_count; i++)
        if (threads[i].is_task && threads[i].task == (uintptr_t)task)
            atomic_store(&outside_resumes, true);
}

/// What code outside the scenario could do to enable a thread; NULL: nothing.
static const char *outside_help(const thread *t) {
    if (t->is_task && atomic_load(&outside_resumes))
        return "waits for something that is done outside of the scenario";
    if (t->finished || !t->started) return NULL;
    if (rl_spins_on_global(t))
        return "waits for a change of a global, which code outside of the scenario may make";
    if (t->is_away) return NULL;
    const bool is_awake = t->operation->is_woken && !t->asleep;
    if (is_awake) return NULL;
    const uintptr_t object = t->asleep ? t->asleep_on : t->address;
    return rl_object_at((const void *)object)->is_made ? NULL : t->operation->help_from_outside;
}

rl_status rl_deadlock_or_outside(void) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        const char *help = outside_help(&lab.run.threads[i]);
        if (!help) continue;
        lab.run.outside = help;
        lab.run.outside_pc = lab.run.threads[i].pc;
        return RL_OUTSIDE;
    }
    return RL_DEADLOCK;
}
