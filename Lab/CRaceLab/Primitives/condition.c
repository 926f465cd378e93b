// Conditions of the threads library, and with them NSCondition.

#include "Model/locks.h"
#include "Model/misuse.h"
#include "Platform/memory.h"
#include "Primitives/clock.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/mutex.h"
#include "Primitives/points.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Search/execution.h"
#include "Search/spinning.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__GLIBC__)

#define FAMILY RL_LOCKS

#include <errno.h>
#include <string.h>

// MARK: - Signals and sleepers

/// A signal that can wake any of several threads.
typedef struct {
    uintptr_t condition;
    rl_thread_set waiting;  // the threads that slept when it was sent
} signal_sent;

/// Those that have not woken a thread yet.
static struct {
    signal_sent *all;
    size_t count, capacity;
} signals;

RL_OF_RUN(signals)

/// The calling thread sleeps until it is woken. At its next point it takes back the lock that
/// belongs to the condition.
static void fall_asleep(const void *condition) {
    thread *t = my_thread();
    RL_REQUIRE(t->kind == RL_WAIT, "a thread falls asleep without waiting");
    t->asleep = true;
    t->asleep_on = (uintptr_t)condition;
    t->asleep_since = lab.run.step_count;
}

/// Whether the thread has been woken, or there is a signal that can wake it.
static bool is_signalled(const thread *t) {
    if (!t->asleep) return true;
    for (size_t k = 0; k < signals.count; k++) {
        const signal_sent *s = &signals.all[k];
        if (s->condition == t->asleep_on && has(s->waiting, (int)(t - lab.run.threads)))
            return true;
    }
    return false;
}

static rl_thread_set sleepers_on(uintptr_t condition) {
    rl_thread_set set = 0;
    for (int i = 0; i < lab.run.thread_count; i++) {
        const thread *t = &lab.run.threads[i];
        if (!t->finished && t->asleep && t->asleep_on == condition) set |= set_of(i);
    }
    return set;
}

static void remove_signal(size_t index) {
    signals.count--;
    memmove(&signals.all[index], &signals.all[index + 1],
            (signals.count - index) * sizeof *signals.all);
}

/// Removes a thread that no longer sleeps from all signals. A signal without any other sleeper is
/// lost.
static void forget_signals_for(int index) {
    for (size_t k = signals.count; k > 0; k--) {
        signal_sent *s = &signals.all[k - 1];
        if (!has(s->waiting, index)) continue;
        s->waiting &= ~set_of(index);
        if (!s->waiting) remove_signal(k - 1);
    }
}

/// Ends a thread's sleep: it was woken, or its wait timed out.
static void wake_up(thread *t) {
    const bool uses_signal = !t->timed_out && !t->is_spurious;
    t->asleep = t->is_spurious = false;
    const int index = (int)(t - lab.run.threads);
    for (size_t k = 0; uses_signal && k < signals.count; k++) {
        if (!has(signals.all[k].waiting, index)) continue;
        remove_signal(k);
        break;
    }
    forget_signals_for(index);
}

/// A wake-up is a message to the thread: what it does next is not spinning, and running it is no
/// longer redundant.
static void has_news(int index) {
    rl_note_order(index);
    rl_forget_visits(&lab.run.threads[index]);
    lab.run.sleeping &= ~set_of(index);
}

static void wake(int index) {
    thread *t = &lab.run.threads[index];
    t->asleep = false;
    forget_signals_for(index);
    // Its wait is over, so it waits for its lock without a time-out.
    t->timed = false;
    has_news(index);
}

/// Sends a signal that wakes the first of the sleeping threads to run.
static void signal_any(uintptr_t condition) {
    const rl_thread_set asleep = sleepers_on(condition);
    size_t sent = 0;
    for (size_t k = 0; k < signals.count; k++) sent += signals.all[k].condition == condition;
    if ((size_t)__builtin_popcount(asleep) <= sent) return;
    MAKE_ROOM(signals.all, signals.count, signals.capacity, 8);
    signals.all[signals.count++] = (signal_sent){condition, asleep};
    for (int i = 0; i < lab.run.thread_count; i++)
        if (has(asleep, i)) has_news(i);
    rl_forget_visits(my_thread());
}

/// Wakes the thread that has slept longest on a condition (with RL_LIBERTY_ANY_WAITER, any one of
/// them), or all threads that sleep on it. If there is none, the signal is lost.
static void wake_sleepers(const void *condition, bool everybody) {
    if (!everybody && rl_gives(RL_LIBERTY_ANY_WAITER)) return signal_any((uintptr_t)condition);
    thread *first = NULL;
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (t->finished || !t->asleep || t->asleep_on != (uintptr_t)condition) continue;
        if (everybody) wake(i);
        if (!first || t->asleep_since < first->asleep_since) first = t;
    }
    if (first && !everybody) wake((int)(first - lab.run.threads));
    // A thread that has woken another has made progress; a signal without a sleeper has no effect.
    if (first) rl_forget_visits(my_thread());
}

// MARK: - Operations

static void take_back(thread *t) {
    rl_own(t);
    wake_up(t);
}

static const rl_operation fall_asleep_on = {.kind = RL_WAIT};
static const rl_operation signal_one = {.kind = RL_WAKE};

/// After a signal or a time-out.
static const rl_operation take_mutex_back = {
    .kind = RL_LOCK,
    .has_record = true,
    .is_available = rl_is_unowned,
    .is_woken = is_signalled,
    .carry_out = take_back,
    .holder = rl_owner,
    .help_from_outside =
        "waits for a condition that was made outside of the scenario, where it may be "
        "signalled",
};

// MARK: - Entry points

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    rl_made(condition);
    return REAL(pthread_cond_init)(condition, attributes);
}

/// In a condition: its clock is the monotonic one.
enum { HAS_MONOTONIC_CLOCK = 2 };

static clockid_t clock_of(const pthread_cond_t *condition) {
    const bool is_monotonic = condition->__data.__wrefs & HAS_MONOTONIC_CLOCK;
    return is_monotonic ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

/// A wait is two steps: the first atomically releases the lock and falls asleep; the second, after
/// a signal, takes the lock back. If the deadline has passed, the thread does not sleep.
static int sleep_on(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until,
                    rl_place place) {
    rl_is_used_as_lock(mutex, place);
    rl_point(&fall_asleep_on, condition, place);
    const bool sleeps = !until || !rl_has_come(clock_of(condition), until);
    if (sleeps) fall_asleep(condition);
    if (rl_is_free(mutex)) {
        rl_is_misused(RL_WAITED_WITHOUT_LOCK, place);
    } else {
        REAL(pthread_mutex_unlock)(mutex);
        rl_unlocked(mutex);
    }
    const bool is_timed = until && sleeps;
    uint32_t step = is_timed ? rl_timed_point(&take_mutex_back, mutex, place,
                                              rl_model_moment(clock_of(condition), until))
                             : rl_point(&take_mutex_back, mutex, place);
    bool woken = sleeps && rl_got_it(step);
    rl_really_lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

/// Between two runs, runs work that was sent to a queue and not yet done: it may signal the
/// condition. Returns whether there was any.
static bool has_done_work(pthread_mutex_t *mutex) {
    REAL(pthread_mutex_unlock)(mutex);
    const bool has_done = rl_do_waiting_work();
    REAL(pthread_mutex_lock)(mutex);
    return has_done;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    if (rl_is_observing) rl_observer_gives_up();
    CALLED_ON(condition, place, now);
    if (now == BY_PROGRAM) return sleep_on(condition, mutex, NULL, place);
    if (now == BETWEEN_RUNS && has_done_work(mutex)) return 0;
    return REAL(pthread_cond_wait)(condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until) {
    if (rl_is_observing) rl_observer_gives_up();
    CALLED_ON(condition, place, now);
    if (now == BY_PROGRAM) return sleep_on(condition, mutex, until, place);
    if (now == BETWEEN_RUNS && has_done_work(mutex)) return 0;
    const struct timespec really = rl_real_moment(clock_of(condition), until);
    return REAL(pthread_cond_timedwait)(condition, mutex, &really);
}

#define WAKES(name, everybody)                       \
    int name(pthread_cond_t *condition) {            \
        CALLED_ON(condition, place, now);            \
        if (now == BY_PROGRAM) {                     \
            rl_point(&signal_one, condition, place); \
            wake_sleepers(condition, everybody);     \
        }                                            \
        return REAL(name)(condition);                \
    }
WAKES(pthread_cond_signal, false)
WAKES(pthread_cond_broadcast, true)

#endif
