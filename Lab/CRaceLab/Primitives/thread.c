#include "Primitives/thread.h"
#include "Primitives/families.h"

#ifndef RL_WITHOUT_HOOKS

#define FAMILY RL_THREADS

#include "Model/locks.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Platform/stack.h"
#include "Primitives/next_symbol.h"
#include "Primitives/points.h"
#include "Scheduler/outside.h"
#include "Scheduler/runs.h"
#include "Scheduler/scheduler.h"
#include "Search/execution.h"

// MARK: - Operations

static bool joins(const thread *t, int i) {
    return t->joins == NO_THREAD ? lab.run.threads[i].team == t->address : t->joins == i;
}

/// Returns an unfinished thread that `t` joins, or NO_THREAD.
static int thread_to_join(const thread *t, uintptr_t *pc) {
    (void)pc;
    for (int i = 0; i < lab.run.thread_count; i++)
        if (joins(t, i) && !lab.run.threads[i].finished) return i;
    return NO_THREAD;
}

static bool have_ended(const thread *t) { return thread_to_join(t, NULL) == NO_THREAD; }

static void join_all(thread *t) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *ended = &lab.run.threads[i];
        if (!joins(t, i)) continue;
        if (ended->last_step >= 0) rl_note_wait((uint32_t)ended->last_step);
        rl_join_clock(&t->clock, &ended->clock);
        ended->released_count = 0;
    }
}

static const rl_operation start = {.kind = RL_START};
const rl_operation rl_join = {
    .kind = RL_JOIN, .is_available = have_ended, .carry_out = join_all, .holder = thread_to_join};

void rl_announce_start(rl_place place) { rl_point(&start, my_thread(), place); }

// MARK: - The life of such a thread

// Each is a real new thread, with attributes and thread-local variables of its own. The engine
// regards it as finished when its thread-local variables have been destroyed, because their
// destructors may run code under test: that is, when the destructor of this key runs for the last
// time.
static pthread_key_t goodbye;

static void end_of_added_thread(void *argument);

static void make_goodbye(void) { pthread_key_create(&goodbye, end_of_added_thread); }

static void end_of_added_thread(void *argument) {
    const int rounds = 3;  // the C library makes four
    if (++me->rounds_of_goodbye < rounds) {
        pthread_setspecific(goodbye, argument);
        return;
    }
    if (me->fate != IS_LOST) rl_ends_after_unpark(me->number);
    if (!rl_makes_progress()) return rl_meet_fate();
    rl_hear_no_more();
    thread *t = my_thread();
    rl_notice_unlocks(t);
    rl_notice_own_lock();
    rl_report_last_step(t);
    t->started = t->finished = true;
    worker *self = me, *next = t->starter;
    const bool begins_job = !next && rl_begin_next_job();
    int index = next || begins_job ? NO_THREAD : rl_decide();
    me = NULL;
    self->is_main = false;
    self->next_idle = lab.spare;
    lab.spare = self;
    if (begins_job) return;
    if (next) return rl_hand_over(next);
    if (index == NO_THREAD) return rl_assign(ENGINE);
    rl_pass_turn(index);
}

/// The threads of the scenario belong to the lab.
_Noreturn void pthread_exit(void *result) {
    const bool is_labs = rl_on_lab_thread() && !my_thread()->is_added;
    rl_place place = RL_CALLER;
    if (is_labs) rl_library_between(&place);
    if (is_labs) rl_meet_outside("ends its thread with pthread_exit", rl_place_in_source(place));
    REAL(pthread_exit)(result);
    __builtin_unreachable();
}

static void *run_added_thread(void *argument) {
    rl_begin_work(argument);
    if (setjmp(me->base.at)) {
        if (!lab.run.threads[me->thread].is_detached) pthread_detach(pthread_self());
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
    worker *w = lab.spare;
    if (!w) return rl_new_worker();
    lab.spare = w->next_idle;
    w->processor = -1;
    w->rounds_of_goodbye = 0;
    w->base_thread = NO_THREAD;
    w->runs_jobs = false;
    return w;
}

static int add_thread(worker *w, pthread_t pthread, bool is_detached) {
    const int index = rl_add_thread();
    thread *t = &lab.run.threads[index];
    t->pthread = w->pthread = pthread;
    t->is_added = true;
    t->is_detached = is_detached;
    t->on = w;
    t->starter = me;
    rl_join_clock(&t->clock, &my_thread()->clock);
    rl_tick(me->thread);
    rl_note_order(index);
    return index;
}

/// Runs `start` as a new thread of this run, up to its first point. Returns the result of
/// pthread_create.
static int start_thread(pthread_t *pthread, const pthread_attr_t *attributes,
                        void *(*start)(void *), void *argument) {
    if (lab.run.thread_count == RL_MAX_THREADS) rl_end_run_with_too_many_threads();
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
    rl_record_phase(RL_IN_THREAD, me->thread);
    return 0;
}

void rl_start_detached_thread(void *(*start)(void *), void *argument) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t pthread;
    const int result = start_thread(&pthread, &attributes, start, argument);
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
    rl_discard(argument);
    m.start(m.team, m.number);
    return NULL;
}

void rl_start_team(const void *team, size_t count, void (*start)(const void *team, size_t number)) {
    for (size_t number = 0; number < count; number++) {
        member *m = rl_allocate(sizeof *m, "a block that is called repeatedly");
        *m = (member){team, number, start};
        rl_start_detached_thread(run_member, m);
        lab.run.threads[lab.run.thread_count - 1].team = (uintptr_t)team;
    }
    my_thread()->joins = NO_THREAD;
}

#if defined(__GLIBC__)

// MARK: - Entry points

/// The thread of this run with this `pthread`, or NO_THREAD.
static int added_thread(pthread_t pthread) {
    for (int i = lab.run.thread_count - 1; i >= 0; i--) {
        thread *t = &lab.run.threads[i];
        if (t->is_added && pthread_equal(t->pthread, pthread)) return i;
    }
    return NO_THREAD;
}

/// Records a thread that runs beside the scenario's: one that the set-up or the judging of a run
/// starts, or the initializer of a global.
static void note_unseen_start(circumstance now, pthread_t thread, rl_place place) {
    if (now != BETWEEN_RUNS && !(now == UNSEEN && rl_is_ignoring())) return;
    // The lab itself starts threads, too.
    if (rl_is_labs_own(place.pc) || rl_is_in_library(place.pc, "libdispatch")) return;
    if (!rl_is_call_of_program(&place)) return;
    if (now == BETWEEN_RUNS)
        rl_meet_thread_of_set_up(thread, place);
    else
        rl_meet_outside("starts a thread while a global is made", place);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    CALLED_AT(place, now);
    if (now != BY_PROGRAM) {
        const int result = REAL(pthread_create)(thread, attributes, start, argument);
        if (result == 0) note_unseen_start(now, *thread, place);
        return result;
    }
    rl_announce_start(place);
    return start_thread(thread, attributes, start, argument);
}

int pthread_detach(pthread_t thread) {
    const int index = rl_active ? added_thread(thread) : NO_THREAD;
    if (index != NO_THREAD) lab.run.threads[index].is_detached = true;
    return REAL(pthread_detach)(thread);
}

int pthread_join(pthread_t thread, void **result) {
    CALLED_AT(place, now);
    if (now == BY_PROGRAM) my_thread()->joins = (int8_t)added_thread(thread);
    if (now == BY_PROGRAM && my_thread()->joins != NO_THREAD)
        rl_point(&rl_join, (const void *)thread, place);
    if (now == BETWEEN_RUNS) rl_forget_thread_of_set_up(thread);
    return REAL(pthread_join)(thread, result);
}

#endif

#endif
