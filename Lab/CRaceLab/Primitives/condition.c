// Conditions of the threads library, and with them NSCondition.
//
// Linux only: elsewhere a library is bound to the library that it was linked against.

#include "Model/locks.h"
#include "Model/misuse.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/mutex.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Scheduler/points.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__GLIBC__)

#define FAMILY RL_LOCKS

#include <errno.h>
#include <pthread.h>
#include <time.h>

typedef int (*on_mutex)(pthread_mutex_t *);
REAL(on_mutex, real_lock, "pthread_mutex_lock")
REAL(on_mutex, real_unlock, "pthread_mutex_unlock")

typedef int (*condition_init)(pthread_cond_t *, const pthread_condattr_t *);
REAL(condition_init, real_condition_init, "pthread_cond_init")

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    rl_made(condition);
    return real_condition_init()(condition, attributes);
}

typedef int (*on_condition)(pthread_cond_t *);
typedef int (*wait)(pthread_cond_t *, pthread_mutex_t *);
typedef int (*wait_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
REAL(wait, real_wait, "pthread_cond_wait")
REAL(wait_until, real_timedwait, "pthread_cond_timedwait")
REAL(on_condition, real_signal, "pthread_cond_signal")
REAL(on_condition, real_broadcast, "pthread_cond_broadcast")

/// A wait is two steps: the first atomically releases the lock and falls asleep; the second, after
/// a signal, takes the lock back.
static int sleep_on(pthread_cond_t *condition, pthread_mutex_t *mutex, bool timed,
                    rl_place place) {
    rl_point(RL_WAIT, condition, place);
    rl_fell_asleep(condition);
    if (rl_is_free(mutex)) {
        rl_is_misused(RL_WAITED_WITHOUT_LOCK, place);
    } else {
        real_unlock()(mutex);
        rl_unlocked(mutex);
    }
    uint32_t step = timed ? rl_timed_point(RL_LOCK, mutex, place)
                          : rl_point(RL_LOCK, mutex, place);
    bool woken = rl_got_it(step);
    rl_really_lock(mutex);
    return woken ? 0 : ETIMEDOUT;
}

/// Between two runs, runs work that was sent to a queue and not yet done: it may signal the
/// condition. Returns whether there was any.
static bool has_done_work_instead(pthread_mutex_t *mutex) {
    if (!rl_is_between_runs_here()) return false;
    real_unlock()(mutex);
    const bool has_done = rl_do_waiting_work();
    real_lock()(mutex);
    return has_done;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    if (rl_is_observing) rl_observer_gives_up();
    IS_LISTENED_TO(place);
    if (!is_listened_to && has_done_work_instead(mutex)) return 0;
    if (!is_listened_to) return real_wait()(condition, mutex);
    return sleep_on(condition, mutex, false, place);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until) {
    if (rl_is_observing) rl_observer_gives_up();
    IS_LISTENED_TO(place);
    if (!is_listened_to && has_done_work_instead(mutex)) return 0;
    if (!is_listened_to) return real_timedwait()(condition, mutex, until);
    return sleep_on(condition, mutex, true, place);
}

int pthread_cond_signal(pthread_cond_t *condition) {
    IS_LISTENED_TO(place);
    if (is_listened_to) {
        rl_point(RL_WAKE, condition, place);
        rl_wake_sleepers(condition, false);
    }
    return real_signal()(condition);
}

int pthread_cond_broadcast(pthread_cond_t *condition) {
    IS_LISTENED_TO(place);
    if (is_listened_to) {
        rl_point(RL_WAKE, condition, place);
        rl_wake_sleepers(condition, true);
    }
    return real_broadcast()(condition);
}

#endif
