// Threads that the code under test starts.

#include "Scheduler/added_threads.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Model/locks.h"
#include "Platform/end.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Platform/stack.h"
#include "Scheduler/abandon.h"
#include "Scheduler/decide.h"
#include "Scheduler/hand_over.h"
#include "Scheduler/jobs.h"
#include "Scheduler/threads.h"
#include "Search/reduction.h"

#include <stdlib.h>

// Each is a real new thread, with attributes and thread-local variables of its own. The engine
// regards it as finished when its thread-local variables have been destroyed, because their
// destructors may run code under test: that is, when the destructor of this key runs for the last
// time.
static pthread_key_t goodbye;
static worker *spare;

void rl_forget_added_threads(void) { spare = NULL; }

static void end_of_added_thread(void *argument);

static void make_goodbye(void) { pthread_key_create(&goodbye, end_of_added_thread); }

static void end_of_added_thread(void *argument) {
    const int rounds = 3;  // the C library makes four
    if (++me->rounds_of_goodbye < rounds) {
        pthread_setspecific(goodbye, argument);
        return;
    }
    if (me->fate != STAYS) return rl_meet_fate();
    rl_hear_no_more();
    thread *t = my_thread();
    rl_notice_unlocks(t);
    rl_report_last_step(t);
    t->started = t->finished = true;
    worker *self = me, *next = t->starter;
    const bool begins_job = !next && rl_begin_next_job();
    int index = next || begins_job ? NO_THREAD : rl_decide();
    me = NULL;
    self->is_main = false;
    self->next_idle = spare;
    spare = self;
    if (begins_job) return;
    if (next) return rl_hand_over(next);
    if (index == NO_THREAD) return rl_assign(ENGINE);
    rl_pass_turn(index);
}

static void *run_added_thread(void *argument) {
    rl_begin_work(argument);
    if (setjmp(me->base.at)) {
        if (!lab.threads[me->thread].is_detached) pthread_detach(pthread_self());
        return NULL;
    }
    pthread_setspecific(goodbye, me);
    rl_park(&me->turn, NULL);
    rl_bind_to_processor(me);
    me->stack_base = (uintptr_t)__builtin_frame_address(0);
    rl_clean_whole_stack();
    rl_record_phase(RL_IN_THREAD, me->thread);
    rl_listen();
    return me->start(me->argument);
}

static worker *worker_for_added_thread(void) {
    worker *w = spare;
    if (!w) return rl_new_worker();
    spare = w->next_idle;
    w->processor = -1;
    w->rounds_of_goodbye = 0;
    w->base_thread = NO_THREAD;
    w->runs_jobs = false;
    return w;
}

static int add_thread(worker *w, pthread_t pthread, bool is_detached) {
    int index = lab.thread_count++;
    if (rl_recording) rl_recording->thread_count = (uint32_t)lab.thread_count;
    rl_make_thread(index);
    thread *t = &lab.threads[index];
    t->pthread = w->pthread = pthread;
    t->is_added = true;
    t->is_detached = is_detached;
    t->on = w;
    t->starter = me;
    rl_join_clock(&t->clock, &my_thread()->clock);
    rl_tick(me->thread);
    rl_note_order(index);
    // Sending work may start a thread as well. Threads get their numbers in the order of their
    // starts.
    rl_note_effect(RL_START, (uintptr_t)rl_start_thread, 0);
    return index;
}

int rl_start_thread(pthread_t *pthread, const pthread_attr_t *attributes,
                    void *(*start)(void *), void *argument) {
    if (lab.thread_count == RL_MAX_THREADS) rl_end_run_with_too_many_threads();
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_goodbye);
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes) pthread_attr_getdetachstate(attributes, &state);
    worker *w = worker_for_added_thread();
    w->start = start;
    w->argument = argument;
    rl_ignore();
    int result = pthread_create(pthread, attributes, run_added_thread, w);
    rl_attend();
    if (result != 0) return result;
    w->thread = add_thread(w, *pthread, state == PTHREAD_CREATE_DETACHED);
    rl_hand_over(w);
    rl_park(&me->turn, NULL);
    rl_continue_giving_up();
    return 0;
}

void rl_start_detached_thread(void *(*start)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t pthread;
    const int result = rl_start_thread(&pthread, &attributes, start, argument);
    if (result != 0) rl_end_without_thread(result);
    pthread_attr_destroy(&attributes);
}

/// A thread of a team.
typedef struct {
    const void *team;
    size_t number;
    void (*start)(const void *team, size_t number);
} member;

static void *run_member(void *argument) {
    member m = *(member *)argument;
    free(argument);
    m.start(m.team, m.number);
    return NULL;
}

void rl_start_team(const void *team, size_t count, void (*start)(const void *team, size_t number)) {
    for (size_t number = 0; number < count; number++) {
        member *m = rl_allocate(sizeof *m, "a block that is called repeatedly");
        *m = (member){team, number, start};
        rl_start_detached_thread(run_member, m);
        lab.threads[lab.thread_count - 1].team = (uintptr_t)team;
    }
    my_thread()->joins = NO_THREAD;
}

static int added_thread(pthread_t pthread) {
    for (int i = lab.thread_count - 1; i >= 0; i--) {
        thread *t = &lab.threads[i];
        if (t->is_added && pthread_equal(t->pthread, pthread)) return i;
    }
    return NO_THREAD;
}

int rl_will_join(pthread_t pthread) {
    int index = added_thread(pthread);
    my_thread()->joins = (int8_t)index;
    return index;
}

void rl_detached(pthread_t pthread) {
    int index = added_thread(pthread);
    if (index != NO_THREAD) lab.threads[index].is_detached = true;
}

#endif
