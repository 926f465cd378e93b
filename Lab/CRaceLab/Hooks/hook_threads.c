// The entry points of the threads library: locks, conditions, creating and joining threads. NSLock,
// NSRecursiveLock, NSCondition, NSConditionLock and Thread end up here as well, because Foundation
// calls these functions by name and the program's definitions take precedence.
//
// Linux only: elsewhere a library is bound to the library that it was linked against.

#include "Hooks/next_symbol.h"
#include "Hooks/tasks.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Scheduler/added_threads.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Scheduler/points.h"
#include "Scheduler/runs.h"
#include "Scheduler/tasks.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__GLIBC__)

#include <errno.h>
#include <time.h>

typedef int (*on_mutex)(pthread_mutex_t *);
typedef int (*on_mutex_until)(pthread_mutex_t *, const struct timespec *);
REAL(on_mutex, real_lock, "pthread_mutex_lock")
REAL(on_mutex, real_trylock, "pthread_mutex_trylock")
REAL(on_mutex, real_unlock, "pthread_mutex_unlock")
REAL(on_mutex_until, real_timedlock, "pthread_mutex_timedlock")

// MARK: - Mutexes

// The engine decides when a thread may take a lock. The thread then takes the real lock as well,
// which keeps out threads that are not part of the scenario.

static void release_mutex(void *mutex) { real_unlock()(mutex); }

static int really_lock(pthread_mutex_t *mutex) {
    int result = real_trylock()(mutex);
    if (result == EBUSY) result = real_lock()(mutex);
    const int kind = mutex->__data.__kind & 3;
    const bool is_of_thread =
        kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP;
    rl_holds(mutex, release_mutex, is_of_thread);
    return result;
}

/// Handles a lock that the calling thread owns already, unless a second attempt blocks. Returns
/// true if it set `*answer`.
static bool asks_again(pthread_mutex_t *mutex, int *answer) {
    const int kind = mutex->__data.__kind & 3;
    if (!rl_owns(mutex)) return false;
    if (kind == PTHREAD_MUTEX_ERRORCHECK_NP) {
        *answer = EDEADLK;
        return true;
    }
    if (kind != PTHREAD_MUTEX_RECURSIVE_NP) return false;
    *answer = real_lock()(mutex);
    rl_took_again(mutex);
    return true;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (rl_is_observing) rl_observer_locks(mutex, release_mutex);
    IS_LISTENED_TO(place);
    if (!is_listened_to) {
        if (rl_finds_out_about_lock(mutex, place)) return real_lock()(mutex);
        if (rl_active && rl_is_lock_of_runtime(place))
            rl_runtime_locks(mutex, rl_is_lock_of_stream(place), place);
        return real_lock()(mutex);
    }
    int answer;
    if (asks_again(mutex, &answer)) return answer;
    rl_point(RL_LOCK, mutex, place);
    return really_lock(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_trylock()(mutex);
    int answer;
    if (asks_again(mutex, &answer)) return answer == EDEADLK ? EBUSY : answer;
    uint32_t step = rl_point(RL_TRY_LOCK, mutex, place);
    return rl_got_it(step) ? really_lock(mutex) : EBUSY;
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_timedlock()(mutex, until);
    int answer;
    if (asks_again(mutex, &answer)) return answer;
    uint32_t step = rl_timed_point(RL_LOCK, mutex, place);
    return rl_got_it(step) ? really_lock(mutex) : ETIMEDOUT;
}

/// Whether no thread holds a mutex, including threads that are not part of the scenario.
static bool is_free(pthread_mutex_t *mutex) {
    if (rl_is_held(mutex) || real_trylock()(mutex) != 0) return false;
    real_unlock()(mutex);
    return true;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (rl_is_observing) rl_observer_unlocks(mutex);
    IS_LISTENED_TO(place);
    if (is_listened_to && is_free(mutex)) {
        rl_is_misused(RL_RELEASED_FREE_LOCK, place);
        return EPERM;
    }
    if (is_listened_to && rl_is_held_elsewhere(mutex))
        rl_is_misused(RL_RELEASED_FOREIGN_LOCK, place);
    int result = real_unlock()(mutex);
    if (is_listened_to && result == 0) rl_unlocked(mutex);
    if (rl_active && !is_listened_to && rl_is_lock_of_runtime(place)) rl_runtime_unlocks(mutex);
    return result;
}

// MARK: - Readers-writer locks

typedef int (*on_rwlock)(pthread_rwlock_t *);
REAL(on_rwlock, real_rdlock, "pthread_rwlock_rdlock")
REAL(on_rwlock, real_tryrdlock, "pthread_rwlock_tryrdlock")
REAL(on_rwlock, real_wrlock, "pthread_rwlock_wrlock")
REAL(on_rwlock, real_trywrlock, "pthread_rwlock_trywrlock")
REAL(on_rwlock, real_rwunlock, "pthread_rwlock_unlock")

static void release_rwlock(void *lock) { real_rwunlock()(lock); }

static int really(on_rwlock take, pthread_rwlock_t *lock) {
    int result = take(lock);
    if (result == 0) rl_holds(lock, release_rwlock, false);
    return result;
}

/// In the lab, a reader does not wait for a writer that waits. In a lock of this kind it does.
static void refuse_if_writers_go_first(const pthread_rwlock_t *lock, rl_place place) {
#if defined(__GLIBC__)
    if (lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        rl_meet_outside("uses a readers-writer lock that prefers writers", place);
#else
    (void)lock, (void)place;
#endif
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    if (rl_is_observing) rl_observer_locks(lock, release_rwlock);
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_rdlock()(lock);
    refuse_if_writers_go_first(lock, place);
    rl_point(RL_SHARED_LOCK, lock, place);
    return really(real_rdlock(), lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_tryrdlock()(lock);
    refuse_if_writers_go_first(lock, place);
    uint32_t step = rl_point(RL_TRY_SHARED_LOCK, lock, place);
    return rl_got_it(step) ? really(real_rdlock(), lock) : EBUSY;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    if (rl_is_observing) rl_observer_locks(lock, release_rwlock);
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_wrlock()(lock);
    rl_point(RL_LOCK, lock, place);
    return really(real_wrlock(), lock);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_trywrlock()(lock);
    uint32_t step = rl_point(RL_TRY_LOCK, lock, place);
    return rl_got_it(step) ? really(real_wrlock(), lock) : EBUSY;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    if (rl_is_observing) rl_observer_unlocks(lock);
    IS_LISTENED_TO(place);
    if (is_listened_to && !rl_is_held(lock) && real_trywrlock()(lock) == 0) {
        real_rwunlock()(lock);
        rl_is_misused(RL_RELEASED_FREE_LOCK, place);
        return EPERM;
    }
    if (is_listened_to && rl_is_held_elsewhere(lock))
        rl_is_misused(RL_RELEASED_FOREIGN_LOCK, place);
    int result = real_rwunlock()(lock);
    if (is_listened_to && result == 0) rl_unlocked(lock);
    return result;
}

// MARK: - Conditions

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
    if (is_free(mutex)) {
        rl_is_misused(RL_WAITED_WITHOUT_LOCK, place);
    } else {
        real_unlock()(mutex);
        rl_unlocked(mutex);
    }
    uint32_t step = timed ? rl_timed_point(RL_LOCK, mutex, place)
                          : rl_point(RL_LOCK, mutex, place);
    bool woken = rl_got_it(step);
    really_lock(mutex);
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

// MARK: - Threads

typedef int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int (*on_thread)(pthread_t);
typedef int (*join)(pthread_t, void **);
REAL(create, real_create, "pthread_create")
REAL(on_thread, real_detach, "pthread_detach")
REAL(join, real_join, "pthread_join")

/// Records a thread that runs beside the scenario's: one that the set-up or the judging of a run
/// starts, or the initializer of a global.
static void note_unseen_start(pthread_t thread, rl_place place) {
    const bool is_between_runs = rl_is_between_runs_here();
    if (!is_between_runs && !(rl_is_of_lab() && rl_is_ignoring())) return;
    // The lab itself starts threads, too.
    if (rl_is_labs_own(place.pc) || rl_is_in_library(place.pc, "libdispatch")) return;
    if (!rl_is_call_of_program(&place)) return;
    if (is_between_runs)
        rl_meet_thread_of_set_up(thread, place);
    else
        rl_meet_outside("starts a thread while a global is made", place);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) {
        const int result = real_create()(thread, attributes, start, argument);
        if (result == 0) note_unseen_start(*thread, place);
        return result;
    }
    // One address for all starts: threads get their numbers in the order of their starts.
    rl_point(RL_START, (const void *)rl_start_thread, place);
    return rl_start_thread(thread, attributes, start, argument);
}

int pthread_detach(pthread_t thread) {
    if (rl_active) rl_detached(thread);
    return real_detach()(thread);
}

int pthread_join(pthread_t thread, void **result) {
    IS_LISTENED_TO(place);
    if (is_listened_to && rl_will_join(thread) >= 0)
        rl_point(RL_JOIN, (const void *)thread, place);
    if (rl_is_between_runs_here()) rl_forget_thread_of_set_up(thread);
    return real_join()(thread, result);
}

#endif
