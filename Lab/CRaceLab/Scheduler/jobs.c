// Jobs of tasks that have left the runtime and have not begun. Any idle worker runs a job.

#include "Scheduler/scheduler.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"

#include <string.h>

typedef struct {
    void *job;
    void (*work)(void *job);
    int thread;  // the task that the job belongs to; NO_THREAD: an actor's job
} sent_job;

static sent_job *sent;
static size_t first_sent, sent_count, sent_capacity;

void rl_forget_jobs(void) { first_sent = sent_count = 0; }

void rl_add_job(void *job, void (*work)(void *job), int thread) {
    if (thread != NO_THREAD) lab.threads[thread].is_sent = true;
    MAKE_ROOM(sent, sent_count, sent_capacity, 16);
    sent[sent_count++] = (sent_job){job, work, thread};
}

bool rl_has_next_job(void) { return first_sent < sent_count; }

/// Prefers the task with the lowest number. The threads of a scenario start in any order, and the
/// tasks that they create must get the same numbers all the same.
static sent_job take_next_job(void) {
    size_t at = first_sent;
    for (size_t k = first_sent; k < sent_count; k++)
        if (sent[k].thread != NO_THREAD && sent[k].thread < sent[at].thread) at = k;
    const sent_job next = sent[at];
    memmove(&sent[first_sent + 1], &sent[first_sent], (at - first_sent) * sizeof *sent);
    if (++first_sent == sent_count) first_sent = sent_count = 0;
    return next;
}

bool rl_begin_next_job(void) {
    if (!rl_has_next_job()) return false;
    const sent_job next = take_next_job();
    worker *w = rl_idle_worker(next.thread == NO_THREAD ? NULL : lab.threads[next.thread].lane);
    w->assigned = JOB;
    w->job = next.job;
    w->job_work = next.work;
    w->thread = NO_THREAD;
    rl_hand_over(w);
    return true;
}

#endif
