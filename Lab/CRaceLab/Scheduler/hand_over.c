// The operating-system threads, and how one of them lets another one run.

#include "Scheduler/scheduler.h"

#include "Model/happens_before.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Platform/stack.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#endif

worker *rl_new_worker(void) {
    worker *w = rl_allocate(sizeof *w, "a thread");
    rl_parker_make(&w->turn);
    w->processor = -1;
    w->thread = w->base_thread = NO_THREAD;
    return w;
}

/// Returns an idle worker, `wanted` if it is idle.
static worker *idle_worker(worker *wanted) {
    worker **at = &lab.idle;
    while (*at && wanted && *at != wanted) at = &(*at)->next_idle;
    if (!*at) at = &lab.idle;
    worker *w = *at;
    if (w) {
        *at = w->next_idle;
        return w;
    }
    w = rl_new_worker();
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    const size_t size = rl_size_of_stack();
    pthread_attr_setstacksize(&attributes, size);
    if (rl_recording) rl_allow_stack(size);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    rl_ignore();  // not a thread of the scenario
    int result = pthread_create(&w->pthread, &attributes, lab.work, w);
    rl_attend();
    if (result != 0) rl_end_without_thread(result);
    pthread_attr_destroy(&attributes);
    return w;
}

void rl_become_idle(void) {
    me->next_idle = lab.idle;
    lab.idle = me;
}

void rl_hand_over(worker *w) {
    if (me) me->stack_end = (uintptr_t)__builtin_frame_address(0);
    lab.running = w;
    rl_unpark(&w->turn);
}

void rl_assign(int what) {
    worker *w = idle_worker(NULL);
    w->assigned = what;
    if (what >= 0) lab.run.threads[what].on = w;
    rl_hand_over(w);
}

static void give_job(worker *w, void *job, void (*work)(void *job), int thread) {
    w->assigned = JOB;
    w->job = job;
    w->job_work = work;
    w->thread = thread;
    rl_hand_over(w);
}

void rl_pass_turn(int index) {
    thread *t = &lab.run.threads[index];
    if (t->on) return rl_hand_over(t->on);
    t->on = idle_worker(t->lane);
    give_job(t->on, t->job, t->work, index);
}

void rl_bind_to_processor(worker *w) {
#if defined(__linux__)
    if (w->processor == lab.processor) return;
    w->processor = lab.processor;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(lab.processor, &set);
    sched_setaffinity(0, sizeof set, &set);
#else
    (void)w;
#endif
}

void rl_begin_work(worker *w) {
    me = w;
    me->landing = &me->base;
    rl_expect_crashes();
    // The watcher may interrupt this thread with a signal. A thread that is created by a Dispatch
    // thread inherits a mask that blocks signals.
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
#if defined(__linux__)
    me->number = (uint32_t)syscall(SYS_gettid);
#endif
}

// MARK: - Jobs of tasks that have left the runtime and have not begun

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
    worker *w = idle_worker(next.thread == NO_THREAD ? NULL : lab.run.threads[next.thread].lane);
    give_job(w, next.job, next.work, NO_THREAD);
    return true;
}

// MARK: - The threads of a scenario

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
    int goes_first = rl_exploration.current && rl_exploration.current->length > 0
                         ? rl_chosen_thread(rl_exploration.current->choices[0])
                         : 0;
    if (goes_first >= lab.run.first_count) goes_first = 0;
    int nth = lab.run.started_count++;
    if (nth == lab.run.first_count - 1) return goes_first;
    return nth < goes_first ? nth : nth + 1;
}

void rl_report_last_step(thread *t) {
    if (!t->unreported) return;
    t->unreported = false;
    lab.steps[t->last_step].locks_held = t->locks_held;
    if (!rl_exploration.scenario->stepped) return;
    rl_ignore();
    rl_exploration.scenario->stepped(rl_exploration.scenario->context, (uint32_t)t->last_step);
    rl_attend();
}
