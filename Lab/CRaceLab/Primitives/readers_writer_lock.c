// Readers-writer locks of the threads library.

#include "Model/locks.h"
#include "Model/misuse.h"
#include "Primitives/families.h"
#include "Primitives/mutex.h"
#include "Primitives/next_symbol.h"
#include "Primitives/points.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Scheduler/runs.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__GLIBC__)

#define FAMILY RL_LOCKS

#include <errno.h>

typedef int (*on_rwlock)(pthread_rwlock_t *);

static const rl_operation read_lock = {
    .kind = RL_SHARED_LOCK,
    .has_record = true,
    .is_available = rl_has_no_writer,
    .carry_out = rl_share,
    .holder = rl_owner,
};
static const rl_operation try_read_lock = {
    .kind = RL_TRY_SHARED_LOCK,
    .has_record = true,
    .is_attempt = true,
    .could_be_early = true,
    .is_available = rl_has_no_writer,
    .carry_out = rl_share,
};

static void release_rwlock(void *lock) { REAL(pthread_rwlock_unlock)(lock); }

static int really(on_rwlock take, pthread_rwlock_t *lock) {
    int result = take(lock);
    if (result == 0) rl_holds((held_lock){lock, release_rwlock});
    return result;
}

/// In the lab, a reader does not wait for a writer that waits. In a lock of this kind it does.
static void refuse_if_writers_go_first(const pthread_rwlock_t *lock, rl_place place) {
    if (lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        rl_meet_outside("uses a readers-writer lock that prefers writers", place);
}

/// Between two runs: whether a thread of the run has not released the lock, so that nothing can
/// take it.
static bool is_kept(pthread_rwlock_t *lock, bool shared, circumstance now) {
    if (now != BETWEEN_RUNS || !rl_is_held(lock)) return false;
    const int result =
        (shared ? REAL(pthread_rwlock_tryrdlock) : REAL(pthread_rwlock_trywrlock))(lock);
    if (result == 0) REAL(pthread_rwlock_unlock)(lock);
    return result != 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    if (rl_is_observing) rl_observer_locks(lock, release_rwlock);
    CALLED_ON(lock, place, now);
    if (is_kept(lock, true, now)) rl_judge_waits_forever(&read_lock, lock, place);
    if (now != BY_PROGRAM) return REAL(pthread_rwlock_rdlock)(lock);
    refuse_if_writers_go_first(lock, place);
    if (rl_owns(lock)) return EDEADLK;
    rl_point(&read_lock, lock, place);
    return really(REAL(pthread_rwlock_rdlock), lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
    CALLED_ON(lock, place, now);
    if (now != BY_PROGRAM) return REAL(pthread_rwlock_tryrdlock)(lock);
    refuse_if_writers_go_first(lock, place);
    uint32_t step = rl_point(&try_read_lock, lock, place);
    return rl_got_it(step) ? really(REAL(pthread_rwlock_rdlock), lock) : EBUSY;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    if (rl_is_observing) rl_observer_locks(lock, release_rwlock);
    CALLED_ON(lock, place, now);
    if (is_kept(lock, false, now)) rl_judge_waits_forever(&rl_take_lock, lock, place);
    if (now != BY_PROGRAM) return REAL(pthread_rwlock_wrlock)(lock);
    if (rl_owns(lock)) return EDEADLK;
    rl_point(&rl_take_lock, lock, place);
    return really(REAL(pthread_rwlock_wrlock), lock);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
    CALLED_ON(lock, place, now);
    if (now != BY_PROGRAM) return REAL(pthread_rwlock_trywrlock)(lock);
    uint32_t step = rl_point(&rl_try_lock, lock, place);
    return rl_got_it(step) ? really(REAL(pthread_rwlock_wrlock), lock) : EBUSY;
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    if (rl_is_observing) rl_observer_unlocks(lock);
    CALLED_ON(lock, place, now);
    if (now == BY_PROGRAM && !rl_is_held(lock) && REAL(pthread_rwlock_trywrlock)(lock) == 0) {
        REAL(pthread_rwlock_unlock)(lock);
        rl_is_misused(RL_RELEASED_FREE_LOCK, place);
        return EPERM;
    }
    if (now == BY_PROGRAM && rl_is_held_elsewhere(lock))
        rl_is_misused(RL_RELEASED_FOREIGN_LOCK, place);
    int result = REAL(pthread_rwlock_unlock)(lock);
    if (now == BY_PROGRAM && result == 0) rl_unlocked(lock);
    return result;
}

#endif
