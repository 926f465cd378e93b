// A last check before the engine reports that no thread is enabled.

#include "Scheduler/look_again.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/recording.h"
#include "Scheduler/enabled.h"
#include "Search/execution.h"
#include "Search/reference_counts.h"
#include "Search/waking.h"

// A thread may spin on something that the lab cannot see. So before the engine reports a deadlock,
// every spinning thread runs its loop once more, without any alternatives. If none of them gets any
// further, these steps are removed from the run.

static void begin_looking(void) {
    if (lab.run.looks_again) return;
    lab.run.looks_again = lab.run.looks_in_vain = true;
    lab.run.looks_from = lab.run.step_count;
    lab.run.races_before_look = lab.run.race_count;
    rl_wake_all();
}

static int look_once_more(void) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (!t->spinning || t->has_looked) continue;
        t->spinning = false;
        t->has_looked = rl_can_go(t);
        if (t->has_looked) {
            begin_looking();
            // The thread runs the whole loop once, wherever in the loop it starts.
            thread *loops = t->sleeper ? t->sleeper : t;
            for (size_t k = 0; k < loops->visit_count; k++)
                loops->visits[k].is_changed_for_good = true;
            return i;
        }
        t->spinning = true;
    }
    return NO_THREAD;
}

static void stop_looking(void) {
    lab.run.looks_again = false;
    for (int i = 0; i < lab.run.thread_count; i++) lab.run.threads[i].has_looked = false;
}

static int32_t last_step_before(int index, uint32_t step) {
    while (step > 0 && lab.steps[step - 1].thread != index) step--;
    return (int32_t)step - 1;
}

static void take_back_looks(void) {
    if (!lab.run.looks_again) return;
    stop_looking();
    const uint32_t end = lab.run.looks_from;
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (t->last_step < (int32_t)end) continue;
        t->last_step = last_step_before(i, end);
        t->unreported = false;
    }
    if (lab.run.step_count > end) lab.run.preemptions = lab.steps[end].preemptions;
    lab.run.last = end > 0 ? lab.steps[end - 1].thread : NO_THREAD;
    lab.run.step_count = end;
    lab.run.race_count = lab.run.races_before_look;
    rl_record_steps(end);
    rl_forget_steps_from(end);
    rl_forget_counts_from(end);
}

void rl_look_again(rl_thread_set *enabled) {
    const thread *last = lab.run.last >= 0 ? &lab.run.threads[lab.run.last] : NULL;
    if (lab.run.looks_again && last && last->finished && !last->sleeper)
        lab.run.looks_in_vain = false;
    if (lab.run.looks_again && !lab.run.looks_in_vain) stop_looking();
    if (*enabled) {
        if (lab.run.looks_again)
            *enabled = set_of(has(*enabled, lab.run.last) ? lab.run.last : __builtin_ctz(*enabled));
        return;
    }
    const int thread = look_once_more();
    if (thread != NO_THREAD)
        *enabled = set_of(thread);
    else
        take_back_looks();
}

#endif
