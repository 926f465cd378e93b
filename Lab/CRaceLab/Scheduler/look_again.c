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
    if (lab.looks_again) return;
    lab.looks_again = lab.looks_in_vain = true;
    lab.looks_from = lab.step_count;
    lab.races_before_look = lab.race_count;
    rl_wake_all();
}

static int look_once_more(void) {
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (!t->spinning || t->has_looked) continue;
        t->spinning = false;
        t->has_looked = rl_can_go(t);
        if (t->has_looked) {
            begin_looking();
            // The thread runs the whole loop once, wherever in the loop it starts.
            for (size_t k = 0; k < t->visit_count; k++) t->visits[k].is_changed_for_good = true;
            return i;
        }
        t->spinning = true;
    }
    return NO_THREAD;
}

static void stop_looking(void) {
    lab.looks_again = false;
    for (int i = 0; i < lab.thread_count; i++) lab.threads[i].has_looked = false;
}

static int32_t last_step_before(int index, uint32_t step) {
    while (step > 0 && lab.steps[step - 1].thread != index) step--;
    return (int32_t)step - 1;
}

static void take_back_looks(void) {
    if (!lab.looks_again) return;
    stop_looking();
    const uint32_t end = lab.looks_from;
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (t->last_step < (int32_t)end) continue;
        t->last_step = last_step_before(i, end);
        t->unreported = false;
    }
    if (lab.step_count > end) lab.preemptions = lab.steps[end].preemptions;
    lab.last = end > 0 ? lab.steps[end - 1].thread : NO_THREAD;
    lab.step_count = end;
    lab.race_count = lab.races_before_look;
    rl_record_steps(end);
    rl_forget_steps_from(end);
    rl_forget_counts_from(end);
}

void rl_look_again(rl_thread_set *enabled) {
    if (lab.looks_again && lab.last >= 0 && lab.threads[lab.last].finished)
        lab.looks_in_vain = false;
    if (lab.looks_again && !lab.looks_in_vain) stop_looking();
    if (*enabled) {
        if (lab.looks_again)
            *enabled = set_of(has(*enabled, lab.last) ? lab.last : __builtin_ctz(*enabled));
        return;
    }
    const int thread = look_once_more();
    if (thread != NO_THREAD)
        *enabled = set_of(thread);
    else
        take_back_looks();
}

#endif
