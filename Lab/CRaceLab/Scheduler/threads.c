// The threads of a scenario.

#include "Scheduler/scheduler.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Platform/recording.h"

void rl_make_thread(int index) {
    thread *t = &lab.run.threads[index];
    *t = (thread){
        .origin = {.name = (uint64_t)index + 1, .starter = NO_THREAD, .step = -1},
        .joins = NO_THREAD,
        .told_in = UINT32_MAX,
        .last_step = -1,
        .parent = NO_THREAD,
    };
    rl_advance(t);
    t->advanced_at = 0;
}

int rl_add_thread(void) {
    if (lab.run.thread_count == RL_MAX_THREADS) rl_end_run_with_too_many_threads();
    const int index = lab.run.thread_count++;
    if (rl_recording) rl_recording->thread_count = (uint32_t)lab.run.thread_count;
    rl_make_thread(index);
    thread *starter = my_thread();
    lab.run.threads[index].origin = (rl_origin){
        .name = rl_mix(rl_mix(starter->origin.name) + ++starter->starts),
        .starter = me->thread,
        .step = (int32_t)lab.run.step_count - 1,
    };
    return index;
}

/// Starts the threads in order, except that the thread which makes the first step starts last: it
/// can continue at once, without a hand-over.
int rl_next_to_start(void) {
    int goes_first =
        lab.current && lab.current->length > 0 ? rl_chosen_thread(lab.current->choices[0]) : 0;
    if (goes_first >= lab.run.first_count) goes_first = 0;
    int nth = lab.run.started_count++;
    if (nth == lab.run.first_count - 1) return goes_first;
    return nth < goes_first ? nth : nth + 1;
}

void rl_report_last_step(thread *t) {
    if (!t->unreported) return;
    t->unreported = false;
    lab.steps[t->last_step].locks_held = t->locks_held;
    if (!lab.scenario->stepped) return;
    rl_ignore();
    lab.scenario->stepped(lab.scenario->context, (uint32_t)t->last_step);
    rl_attend();
}

#endif
