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

static struct {
    sent_job *all;
    size_t first, count, capacity;
} sent;

RL_OF_RUN(sent)

void rl_add_job(void *job, void (*work)(void *job), int thread) {
    if (thread != NO_THREAD) lab.run.threads[thread].is_sent = true;
    MAKE_ROOM(sent.all, sent.count, sent.capacity, 16);
    sent.all[sent.count++] = (sent_job){job, work, thread};
}

bool rl_has_next_job(void) { return sent.first < sent.count; }

/// Prefers the task with the lowest number. The threads of a scenario start in any order, and the
/// tasks that they create must get the same numbers all the same.
static sent_job take_next_job(void) {
    sent_job *jobs = sent.all;
    size_t at = sent.first;
    for (size_t k = sent.first; k < sent.count; k++)
        if (jobs[k].thread != NO_THREAD && jobs[k].thread < jobs[at].thread) at = k;
    const sent_job next = jobs[at];
    memmove(&jobs[sent.first + 1], &jobs[sent.first], (at - sent.first) * sizeof *jobs);
    if (++sent.first == sent.count) sent.first = sent.count = 0;
    return next;
}

bool rl_begin_next_job(void) {
    if (!rl_has_next_job()) return false;
    const sent_job next = take_next_job();
    worker *w = rl_idle_worker(next.thread == NO_THREAD ? NULL : lab.run.threads[next.thread].lane);
    w->assigned = JOB;
    w->job = next.job;
    w->job_work = next.work;
    w->thread = NO_THREAD;
    rl_hand_over(w);
    return true;
}

#endif
