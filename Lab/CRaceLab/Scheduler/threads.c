// The threads of a scenario.

#include "Scheduler/threads.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Search/spinning.h"

#include <string.h>

void rl_make_thread(int index) {
    thread *t = &lab.threads[index];
    t->started = t->finished = t->unreported = t->asleep = t->is_spurious = t->idle = false;
    t->timed = t->timed_out = t->is_added = t->is_detached = false;
    t->on = t->starter = NULL;
    t->is_task = t->is_away = t->is_ending = t->is_of_runtime = t->was_resumed = false;
    t->is_enqueued = t->is_sent = t->is_arriving = t->is_yielding = t->is_resuming =
        t->is_registering = false;
    t->continuation = NO_CONTINUATION;
    t->task = t->actor = t->left = t->pc = 0;
    t->parent = NO_THREAD;
    t->is_cancelled = false;
    t->work = t->work_of_yield = NULL;
    t->lane = NULL;
    t->describe = NULL;
    t->leave = NULL;
    t->operation = NULL;
    t->waits_for = NULL;
    t->comes_for = NULL;
    t->joins = NO_THREAD;
    t->team = 0;
    t->own_body = NULL;
    t->last_step = -1;
    t->accesses = 0;
    t->draws = 0;
    t->begun = t->begun_at = 0;
    t->begun_in_is_known = false;
    t->clock_reads = t->clock_read_at = 0;
    rl_forget_visits(t);
    t->block_count = t->block_words = 0;
    t->latest_private_write = 0;
    t->has_looked = false;
    t->open_count = t->frame_count = 0;
    t->announced = 0;
    t->told_in = UINT32_MAX;
    t->locks_held = 0;
    t->held_count = t->released_count = 0;
    t->early = false;
    t->releases = NULL;
    t->moment = 0;
    t->old_reads = 0;
    t->chooses_value = false;
    t->missed = NULL;
    memset(&t->clock, 0, sizeof t->clock);
    memset(&t->resumed, 0, sizeof t->resumed);
    memset(t->read, 0, sizeof t->read);
    memset(t->fenced, 0, sizeof t->fenced);
    rl_advance(t);
    t->advanced_at = 0;
}

/// Starts the threads in order, except that the thread which makes the first step starts last: it
/// can continue at once, without a hand-over.
int rl_next_to_start(void) {
    int goes_first =
        lab.current && lab.current->length > 0 ? rl_chosen_thread(lab.current->choices[0]) : 0;
    if (goes_first >= lab.first_count) goes_first = 0;
    int nth = lab.started_count++;
    if (nth == lab.first_count - 1) return goes_first;
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
