// The queues of Dispatch: which are serial and which concurrent, what it means to run on one, and
// which thread is the main thread.

#include "Model/locks.h"
#include "Platform/memory.h"
#include "Platform/stack.h"
#include "Primitives/dispatch.h"
#include "Primitives/points.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Search/execution.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void dispatch_queue_set_specific(dispatch_object, const void *, void *, function);
extern void *dispatch_queue_get_specific(dispatch_object, const void *);
extern const char *dispatch_queue_get_label(dispatch_object);

// A queue does not reveal whether it is serial or concurrent. So concurrent queues are marked when
// they are created, and the attributes that make a queue concurrent are remembered.

/// An entry of a list of objects that live as long as the process.
typedef struct member {
    dispatch_object object;
    struct member *next;
} member;

/// Attributes that make a queue concurrent, and global queues.
static _Atomic(member *) known;

static bool is_known(dispatch_object object) {
    const member *m = atomic_load(&known);
    while (m && m->object != object) m = m->next;
    return m != NULL;
}

static void remember(dispatch_object object) {
    if (!object || is_known(object)) return;
    member *m = rl_allocate(sizeof *m, "the kind of a queue");
    *m = (member){object, atomic_load(&known)};
    while (!atomic_compare_exchange_weak(&known, &m->next, m)) {}
}

static bool is_concurrent_attribute(dispatch_object attribute) {
    if (!attribute) return false;
    return attribute == dlsym(RTLD_DEFAULT, "_dispatch_queue_attr_concurrent") ||
           is_known(attribute);
}

static dispatch_object derived(dispatch_object attribute, dispatch_object from) {
    if (is_concurrent_attribute(from)) remember(attribute);
    return attribute;
}

#define DERIVES(name, parameters, arguments) \
    dispatch_object name parameters { return derived(REAL(name) arguments, from); }

DERIVES(dispatch_queue_attr_make_initially_inactive, (dispatch_object from), (from))
DERIVES(dispatch_queue_attr_make_with_autorelease_frequency,
        (dispatch_object from, unsigned long a), (from, a))
DERIVES(dispatch_queue_attr_make_with_qos_class, (dispatch_object from, unsigned a, int b),
        (from, a, b))

static const char mark_of_concurrent;

static dispatch_object marked(dispatch_object queue, dispatch_object attribute) {
    if (queue && is_concurrent_attribute(attribute)) REAL(dispatch_queue_set_specific)
    (queue, &mark_of_concurrent, (void *)&mark_of_concurrent, NULL);
    return queue;
}

/// The lab does not model that queues with a common target queue exclude one another.
static void note_target(dispatch_object target, rl_place place) {
    if (!rl_is_of_lab() || !target || rl_kind_of_queue(target) == GLOBAL) return;
    if (rl_is_in_library(place.pc, "libdispatch")) return;
    rl_library_between(&place);
    rl_meet_outside("gives a queue another one as its target", place);
}

void dispatch_set_target_queue(dispatch_object queue, dispatch_object target) {
    note_target(target, RL_CALLER);
    REAL(dispatch_set_target_queue)(queue, target);
}

dispatch_object dispatch_queue_create(const char *label, dispatch_object attribute) {
    return marked(REAL(dispatch_queue_create)(label, attribute), attribute);
}

dispatch_object dispatch_queue_create_with_target(const char *label, dispatch_object attribute,
                                                  dispatch_object target) {
    note_target(target, RL_CALLER);
    return marked(REAL(dispatch_queue_create_with_target)(label, attribute, target), attribute);
}

dispatch_object dispatch_get_global_queue(intptr_t identifier, uintptr_t flags) {
    dispatch_object queue = REAL(dispatch_get_global_queue)(identifier, flags);
    remember(queue);
    return queue;
}

queue_kind rl_kind_of_queue(dispatch_object queue) {
    static dispatch_object main_queue;
    if (!main_queue) main_queue = dlsym(RTLD_DEFAULT, "_dispatch_main_q");
    if (queue == main_queue) return MAIN;
    if (is_known(queue)) return GLOBAL;
    return REAL(dispatch_queue_get_specific)(queue, &mark_of_concurrent) ? CONCURRENT : SERIAL;
}

// MARK: - The line

// Dispatch runs the work of a queue in order, and a thread that waits for a queue comes after work
// that was sent before it. On a concurrent queue a thread that comes by itself has a place in that
// line. Elsewhere "before" means ordered, by locks, atomics and so on: the first work in line can
// run whenever the thread could, so that the two race for the lock, in both orders.

void rl_stand_in_line(dispatch_object queue, const void *work, bool exclusive) {
    lock *l = rl_lock_at((uintptr_t)queue);
    MAKE_ROOM(l->line, l->line_count, l->line_capacity, 8);
    l->line[l->line_count++] = (in_line){.work = work,
                                         .exclusive = exclusive,
                                         .by = (int8_t)me->thread,
                                         .since = my_thread()->clock.at[me->thread]};
}

static void leave_line(const void *queue, const void *work) {
    lock *l = rl_lock_at((uintptr_t)queue);
    uint32_t at = 0;
    while (at < l->line_count && l->line[at].work != work) at++;
    if (at == l->line_count) return;
    l->left_line[me->thread] = lab.run.step_count;
    if (l->line[at].exclusive) l->exclusive_left_line = lab.run.step_count;
    l->line_count--;
    memmove(&l->line[at], &l->line[at + 1], (l->line_count - at) * sizeof *l->line);
}

/// In its next step the thread takes the queue for this work; NULL: for itself.
static void come_for(const void *work) { my_thread()->comes_for = work; }

static bool is_in_line(const thread *t) {
    const lock *l = t->waits_for;
    RL_REQUIRE(l, "a thread waits for nothing");
    const bool exclusive = t->kind == RL_LOCK;
    for (uint32_t i = 0; i < l->line_count; i++) {
        const in_line *before = &l->line[i];
        if (before->work == t->comes_for) return false;
        if (!exclusive && !before->exclusive) continue;
        if (t->comes_for || t->clock.at[before->by] >= before->since) return true;
    }
    return false;
}

// MARK: - Operations

/// A thread that stood in line has waited for what came before.
static void follow_line(thread *t, bool exclusive) {
    const lock *l = t->waits_for;
    if (!t->comes_for) return;
    if (l->exclusive_left_line > 0) rl_note_wait(l->exclusive_left_line - 1);
    for (int i = 0; exclusive && i < lab.run.thread_count; i++)
        if (l->left_line[i] > l->exclusive_left_line) rl_note_wait(l->left_line[i] - 1);
}

static void own_queue(thread *t) {
    follow_line(t, true);
    rl_own(t);
}

static void have_share_of_queue(thread *t) {
    follow_line(t, false);
    rl_share(t);
}

static bool can_take_alone(const thread *t) { return rl_is_unowned(t) && !is_in_line(t); }
static bool can_share(const thread *t) { return rl_has_no_writer(t) && !is_in_line(t); }

/// The thread that waits keeps the queue alive.
static const char *label_of_queue(const thread *t) {
    return REAL(dispatch_queue_get_label)((dispatch_object)t->address);
}

static const rl_operation take_alone = {
    .kind = RL_LOCK,
    .has_record = true,
    .is_available = can_take_alone,
    .carry_out = own_queue,
    .holder = rl_owner_or_reader,
    .is_in_line = is_in_line,
    .queue = label_of_queue,
};
static const rl_operation share_queue = {
    .kind = RL_SHARED_LOCK,
    .has_record = true,
    .is_available = can_share,
    .carry_out = have_share_of_queue,
    .holder = rl_owner,
    .is_in_line = is_in_line,
    .queue = label_of_queue,
};

// MARK: - Running work on a queue

// A queue is modeled as a lock around the work: a mutual-exclusion lock for a serial queue, a
// readers-writer lock for a concurrent one, where a barrier is the writer. The work runs on the
// waiting thread, as in Dispatch, and inside a real call, so that `dispatchPrecondition` and
// `getSpecific` work.

/// Lets Dispatch's function return even if the work is abandoned.
static void make_call(void *context) {
    const call *c = context;
    rl_landing landing = {.outer = me->landing};
    me->landing = &landing;
    if (setjmp(landing.at) == 0) c->work(c->context);
    me->landing = landing.outer;
}

void rl_call_on_queue(dispatch_object queue, call c, bool barrier) {
    if (rl_kind_of_queue(queue) == MAIN) {
        const bool before = rl_stand_for_main_thread(true);
        c.work(c.context);
        rl_stand_for_main_thread(before);
        return;
    }
    (barrier ? REAL(dispatch_barrier_sync_f) : REAL(dispatch_sync_f))(queue, &c, make_call);
    rl_continue_giving_up();
}

static const rl_operation queue_up = {.kind = RL_QUEUE_UP};
static const rl_operation queue_up_to_share = {.kind = RL_SHARED_QUEUE_UP};

/// A thread that comes to a concurrent queue by itself: a barrier that came before it goes first,
/// even if the barrier still has to wait.
static void come_to_queue(dispatch_object queue, bool shared, const void *work, rl_place place) {
    rl_point(shared ? &queue_up_to_share : &queue_up, rl_line_of(queue), place);
    rl_stand_in_line(queue, work, !shared);
    rl_clean_stack();
}

static void take_queue(dispatch_object queue, bool shared, const void *work, rl_place place) {
    come_for(work);
    rl_point(shared ? &share_queue : &take_alone, queue, place);
    come_for(NULL);
}

void rl_run_on_queue(dispatch_object queue, call c, bool barrier, const void *work,
                     rl_place place) {
    const queue_kind kind = rl_kind_of_queue(queue);
    const bool shared = kind == CONCURRENT && !barrier;
    if (kind == CONCURRENT && !work) come_to_queue(queue, shared, work = &c, place);
    if (kind != GLOBAL) take_queue(queue, shared, work, place);
    rl_call_on_queue(queue, c, barrier);
    if (kind != GLOBAL) rl_unlocked(queue);
    if (work) leave_line(queue, work);
}

static void no_release(void *queue) { (void)queue; }

void rl_observe_on_queue(dispatch_object queue, call c, bool barrier) {
    if (rl_kind_of_queue(queue) != MAIN) rl_observer_locks(queue, no_release);
    rl_call_on_queue(queue, c, barrier);
    rl_observer_unlocks(queue);
}

// MARK: - The main thread
//
// On lab threads, the main thread is the one that runs the work of the main queue. The real main
// thread has other work, such as waiting for the exploration.

static bool is_main(dispatch_object queue) { return rl_kind_of_queue(queue) == MAIN; }

bool _CFIsMainThread(void) {
    return rl_is_of_lab() ? rl_stands_for_main_thread() : REAL(_CFIsMainThread)();
}

// Swift's own checks call these functions.

void dispatch_assert_queue(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) REAL(dispatch_assert_queue)(queue);
}

void dispatch_assert_queue_barrier(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) REAL(dispatch_assert_queue_barrier)(queue);
}

void dispatch_assert_queue_not(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue))
        return REAL(dispatch_assert_queue_not)(queue);
    fputs("BUG IN CLIENT OF LIBDISPATCH: Assertion failed: Block was not expected to execute on "
          "queue [com.apple.main-thread]\n",
          stderr);
    abort();
}

#endif
