// Locks with one owner: `Mutex` of Swift, and those of the threads library. NSLock, NSRecursiveLock
// and NSConditionLock end up here as well, because Foundation calls these functions by name and the
// program's definitions take precedence.

#include "Primitives/mutex.h"

#include "Model/locks.h"
#include "Model/misuse.h"
#include "Primitives/clock.h"
#include "Primitives/families.h"
#include "Primitives/next_symbol.h"
#include "Primitives/points.h"
#include "Primitives/task.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Scheduler/runs.h"
#include "State/blocks.h"
#include "State/shadow.h"

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"

#ifndef RL_WITHOUT_HOOKS

#define FAMILY RL_LOCKS

#include <errno.h>
#include <string.h>

#if defined(__APPLE__)
#include <os/lock.h>
#endif

const rl_operation rl_take_lock = {
    .kind = RL_LOCK,
    .has_record = true,
    .is_available = rl_is_unowned,
    .carry_out = rl_own,
    .holder = rl_owner_or_reader,
};
const rl_operation rl_try_lock = {
    .kind = RL_TRY_LOCK,
    .has_record = true,
    .is_attempt = true,
    .could_be_early = true,
    .is_available = rl_is_unowned,
    .carry_out = rl_own,
};

// MARK: - Mutex of Swift

#if defined(__linux__)

// `Mutex` exchanges 0 for the thread's number in one atomic operation. If that fails, it calls one
// of two functions, one for `lock` and one for `tryLock`. So on a lab thread the atomic operation
// always fails, and these two functions take the lock when the thread has its turn.
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

// The lab may not see the release. The compiler outlines it into a function; every module has a
// copy, and the linker keeps one, perhaps from a module that is compiled without calls for atomics.
// So the engine inspects the word instead of intercepting the release.
static void release_word(void *handle) { atomic_store((_Atomic uint32_t *)handle, 0); }

static bool take(void *handle) {
    uint32_t unlocked = 0;
    bool taken = atomic_compare_exchange_strong((_Atomic uint32_t *)handle, &unlocked, me->number);
    if (taken) rl_holds((held_lock){handle, release_word, .is_of_thread = true, .silent = true});
    return taken;
}

/// Without calls for atomics, the lab sees only the attempts that have to wait.
static void meet_lock_without_calls(rl_place place) {
    if (rl_is_unseen_lock(place)) rl_meet_outside(RL_LOCK_WITHOUT_CALLS, rl_place_in_source(place));
}

static bool is_word_free(const thread *t) {
    return atomic_load((_Atomic uint32_t *)t->address) == 0;
}

/// A library takes such a lock without a call, unless it is taken already. What it protects is no
/// matter of the scenario, so the lock orders nothing.
static const rl_operation wait_in_library = {.kind = RL_LOCK, .is_available = is_word_free};

/// Whether a thread of the scenario has such a lock. Any other thread releases it without a step.
static bool is_held_in_scenario(const void *handle) {
    const uint32_t owner = atomic_load((const _Atomic uint32_t *)handle) & 0x3fffffff;
    for (int i = 0; i < lab.run.thread_count; i++)
        if (lab.run.threads[i].on && lab.run.threads[i].on->number == owner) return true;
    return false;
}

NAMED(LOCK_SLOW, SWIFT_FUNCTION void rl_mutex_lock(uint32_t number, SWIFT_SELF void *handle)) {
    if (me) me->refused_at = 0;
    if (rl_is_observing) rl_observer_locks(handle, release_word);
    const bool sees = rl_sees(RL_MUTEX, RL_CALLER);
    if (sees && !rl_is_under_test(RL_CALLER.pc)) {
        if (is_held_in_scenario(handle))
            rl_point(&wait_in_library, handle, rl_place_in_source(RL_CALLER));
    } else if (sees) {
        meet_lock_without_calls(RL_CALLER);
        rl_point(&rl_take_lock, handle, rl_place_in_source(RL_CALLER));
        if (take(handle)) return;
    }
    REAL_AT(rl_mutex_lock, LOCK_SLOW)(number, handle);
}

NAMED(TRY_LOCK_SLOW, SWIFT_FUNCTION bool rl_mutex_try_lock(SWIFT_SELF void *handle)) {
    if (me) me->refused_at = 0;
    if (!rl_sees(RL_MUTEX, RL_CALLER)) return REAL_AT(rl_mutex_try_lock, TRY_LOCK_SLOW)(handle);
    uint32_t step = rl_point(&rl_try_lock, handle, rl_place_in_source(RL_CALLER));
    return rl_got_it(step) && take(handle);
}

/// A lock of the program itself may have the same operands. Then no call of these follows.
static bool is_own_lock(volatile uint32_t *word, bool takes, uintptr_t pc) {
    if (takes) rl_notice_own_lock();  // that of the exchange before
    const bool is_at_place = takes && rl_is_marked(pc, RL_OF_OWN_LOCK);
    object_record *o =
        is_at_place ? rl_object_at((const void *)word) : rl_known_object((const void *)word);
    if (o && takes) o->is_own_lock = is_at_place;
    return o && o->is_own_lock;
}

bool rl_is_mutex_exchange(volatile uint32_t *word, uint32_t expected, uint32_t desired,
                          uintptr_t pc, uint32_t *seen) {
    const uint32_t number = me->number;
    const bool takes = expected == 0 && desired == number;
    const bool releases = expected == number && desired == 0;
    if (rl_is_observing && takes) rl_observer_locks((void *)word, release_word);
    if (rl_is_observing && releases) rl_observer_unlocks((void *)word);
    if (!rl_active || (!takes && !releases) || is_own_lock(word, takes, pc)) return false;
    if (takes) me->refused_at = pc;
    // "Taken": the caller calls rl_mutex_lock or rl_mutex_try_lock.
    *seen = takes ? number ^ 1 : expected;
    if (releases) atomic_compare_exchange_strong((_Atomic uint32_t *)word, seen, 0);
    return true;
}

#elif defined(__APPLE__)

// On Apple platforms, `Mutex` is an `os_unfair_lock`; function calls take and release it.

void os_unfair_lock_lock(os_unfair_lock_t lock) {
    if (rl_active) rl_point(&rl_take_lock, lock, rl_place_in_source(RL_CALLER));
    REAL(os_unfair_lock_lock)(lock);
}

bool os_unfair_lock_trylock(os_unfair_lock_t lock) {
    if (!rl_active) return REAL(os_unfair_lock_trylock)(lock);
    uint32_t step = rl_point(&rl_try_lock, lock, rl_place_in_source(RL_CALLER));
    return rl_got_it(step) && REAL(os_unfair_lock_trylock)(lock);
}

void os_unfair_lock_unlock(os_unfair_lock_t lock) {
    REAL(os_unfair_lock_unlock)(lock);
    if (rl_active) rl_unlocked(lock);
}

#endif

#if defined(__GLIBC__)

// MARK: - Mutexes of the threads library

// The engine decides when a thread may take a lock. The thread then takes the real lock as well,
// which keeps out threads that are not part of the scenario.

static void release_mutex(void *mutex) { REAL(pthread_mutex_unlock)(mutex); }

static bool is_of_thread(const pthread_mutex_t *mutex) {
    const int kind = mutex->__data.__kind & 3;
    return kind == PTHREAD_MUTEX_RECURSIVE_NP || kind == PTHREAD_MUTEX_ERRORCHECK_NP;
}

int rl_really_lock(pthread_mutex_t *mutex) {
    int result = REAL(pthread_mutex_trylock)(mutex);
    if (result == EBUSY) result = REAL(pthread_mutex_lock)(mutex);
    rl_holds((held_lock){mutex, release_mutex, .is_of_thread = is_of_thread(mutex)});
    return result;
}

/// Between two runs: whether a thread of the run, or a second attempt of the calling one, keeps the
/// lock. The system may regard the calling thread as the one that took it.
static bool is_kept_mutex(pthread_mutex_t *mutex, circumstance now) {
    if (now != BETWEEN_RUNS || mutex->__data.__lock == 0) return false;
    const bool is_own = mutex->__data.__owner == (int)me->number && !is_of_thread(mutex);
    return is_own || rl_is_held(mutex);
}

/// The kind of a mutex that has been destroyed; and in the kind of another one: the next thread may
/// take it after its owner has ended.
enum { IS_DESTROYED = -1, IS_ROBUST = 16 };

static bool is_destroyed(const pthread_mutex_t *mutex, rl_place place) {
    if (mutex->__data.__kind != IS_DESTROYED) return false;
    rl_is_misused(RL_USED_DESTROYED_LOCK, place);
    return true;
}

/// Takes the mutex after the point at which the engine has given it to this thread. One that has
/// been destroyed keeps no thread waiting.
static int take_unless_destroyed(pthread_mutex_t *mutex, rl_place place) {
    if (!is_destroyed(mutex, place)) return rl_really_lock(mutex);
    rl_unlocked(mutex);
    return EINVAL;
}

/// Whether a thread owns the lock in whose body this one runs.
static bool is_owned_below(const void *mutex) {
    const lock *l = rl_known_lock((uintptr_t)mutex);
    const int owner = l ? l->owner : NO_THREAD;
    return owner != NO_THREAD && owner != me->thread && lab.run.threads[owner].on == me;
}

/// Takes a lock that the calling thread owns already, unless that would block. Returns true if it
/// set `*answer`.
static bool asks_again(pthread_mutex_t *mutex, int *answer, rl_place place) {
    if (mutex->__data.__kind == IS_DESTROYED) return false;
    const int kind = mutex->__data.__kind & 3;
    if (mutex->__data.__kind & IS_ROBUST) rl_meet_outside("takes a robust lock", place);
    // The operating-system thread already owns it: the task runs in the body of the owner.
    if (is_of_thread(mutex) && is_owned_below(mutex))
        rl_meet_outside("takes a recursive lock that its thread keeps meanwhile", place);
    if (!rl_owns(mutex)) return false;
    if (kind == PTHREAD_MUTEX_ERRORCHECK_NP) {
        *answer = EDEADLK;
        return true;
    }
    if (kind != PTHREAD_MUTEX_RECURSIVE_NP) return false;
    *answer = REAL(pthread_mutex_lock)(mutex);
    rl_took_again(mutex);
    return true;
}

/// Whether Foundation takes the lock of one of its objects, such as an `NSCache`, which the scenario
/// has made. The line is that of the code under test which uses the object. An `Operation` takes its
/// lock dozens of times for one call, which would be too many steps to explore.
static bool is_of_object(const pthread_mutex_t *mutex, rl_place *place) {
    static const char library[] = "libFoundation", operation[] = "$s10Foundation9Operation";
    if (rl_extent_with((uintptr_t)mutex).size == 0) return false;
    if (strncmp(rl_name_of_library(place->pc), library, sizeof library - 1) != 0) return false;
    const char *name = rl_name_of_function(place->pc);
    if (name && strncmp(name, operation, sizeof operation - 1) == 0) return false;
    return rl_is_below_program(place);
}

static circumstance circumstance_on(const pthread_mutex_t *mutex, rl_place *place) {
    circumstance now = rl_circumstance(FAMILY, place);
    if (now == UNSEEN && rl_sees(FAMILY, *place) && is_of_object(mutex, place)) now = BY_PROGRAM;
    if (now == BY_PROGRAM) rl_is_used_as_lock(mutex, *place);
    return now;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) {
    if (rl_is_observing) rl_observer_locks(mutex, release_mutex);
    rl_place place = RL_CALLER;
    const circumstance now = circumstance_on(mutex, &place);
    if (rl_finds_out_about_lock(mutex, place)) return REAL(pthread_mutex_lock)(mutex);
    if (now == BY_RUNTIME)
        rl_runtime_locks(&rl_take_lock, mutex,
                         rl_is_lock_of_stream(place) && rl_sees(RL_STREAMS, place), place);
    if (is_kept_mutex(mutex, now)) rl_judge_waits_forever(&rl_take_lock, mutex, place);
    if (now != BY_PROGRAM) return REAL(pthread_mutex_lock)(mutex);
    int answer;
    if (asks_again(mutex, &answer, place)) return answer;
    rl_point(&rl_take_lock, mutex, place);
    return take_unless_destroyed(mutex, place);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    rl_place place = RL_CALLER;
    const circumstance now = circumstance_on(mutex, &place);
    if (now != BY_PROGRAM)
        return is_kept_mutex(mutex, now) ? EBUSY : REAL(pthread_mutex_trylock)(mutex);
    int answer;
    if (asks_again(mutex, &answer, place)) return answer == EDEADLK ? EBUSY : answer;
    uint32_t step = rl_point(&rl_try_lock, mutex, place);
    return rl_got_it(step) ? take_unless_destroyed(mutex, place) : EBUSY;
}

/// A wait that can time out right before the lock is released, like an attempt.
static const rl_operation wait_for_lock = {
    .kind = RL_TRY_LOCK,
    .has_record = true,
    .could_be_early = true,
    .is_available = rl_is_unowned,
    .carry_out = rl_own,
    .holder = rl_owner_or_reader,
};

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    rl_place place = RL_CALLER;
    const circumstance now = circumstance_on(mutex, &place);
    if (now != BY_PROGRAM)
        return is_kept_mutex(mutex, now) ? ETIMEDOUT : REAL(pthread_mutex_timedlock)(mutex, until);
    int answer;
    if (asks_again(mutex, &answer, place)) return answer;
    const rl_operation *wait = rl_gives(RL_LIBERTY_TIME_OUTS) ? &wait_for_lock : &rl_take_lock;
    const uint64_t deadline = rl_model_moment(CLOCK_REALTIME, until);
    const uint32_t step = rl_has_come(CLOCK_REALTIME, until)
                              ? rl_point(&rl_try_lock, mutex, place)
                              : rl_timed_point(wait, mutex, place, deadline);
    return rl_got_it(step) ? take_unless_destroyed(mutex, place) : ETIMEDOUT;
}

bool rl_is_free(pthread_mutex_t *mutex) {
    if (rl_is_held(mutex) || REAL(pthread_mutex_trylock)(mutex) != 0) return false;
    REAL(pthread_mutex_unlock)(mutex);
    return true;
}

int pthread_mutex_unlock(pthread_mutex_t *mutex) {
    if (rl_is_observing) rl_observer_unlocks(mutex);
    rl_place place = RL_CALLER;
    const circumstance now = circumstance_on(mutex, &place);
    if (now == BY_PROGRAM && is_destroyed(mutex, place)) return EINVAL;
    if (now == BY_PROGRAM && rl_is_free(mutex)) {
        rl_is_misused(RL_RELEASED_FREE_LOCK, place);
        return EPERM;
    }
    if (now == BY_PROGRAM && rl_is_held_elsewhere(mutex))
        rl_is_misused(RL_RELEASED_FOREIGN_LOCK, place);
    int result = REAL(pthread_mutex_unlock)(mutex);
    if (now == BY_PROGRAM && result == 0) rl_unlocked(mutex);
    if (now == BY_RUNTIME) rl_runtime_unlocks(mutex);
    return result;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex) {
    const rl_place place = RL_CALLER;
    // An object of a library destroys its mutex when its last reference is released.
    if (rl_sees(FAMILY, place) && rl_is_under_test(place.pc)) {
        // As for an attempt to take it, what matters is whether a thread holds it.
        static const rl_operation destroy = {
            .kind = RL_TRY_LOCK,
            .has_record = true,
            .is_attempt = true,
            .could_be_early = true,
            .is_available = rl_is_unowned,
        };
        const uint32_t step = rl_point(&destroy, mutex, place);
        if (is_destroyed(mutex, place)) return EINVAL;
        if (!rl_got_it(step)) {
            rl_is_misused(RL_DESTROYED_HELD_LOCK, place);
            return EBUSY;
        }
    }
    return REAL(pthread_mutex_destroy)(mutex);
}

#endif

#elif defined(RL_UNDER_THREAD_SANITIZER) && defined(__linux__)

// MARK: - Under ThreadSanitizer

// A contended `Mutex` is locked inside libswiftSynchronization, which ThreadSanitizer does not
// instrument. It would report a race between two threads that the lock orders. These functions tell
// it about the acquire and the release.

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

NAMED(LOCK_SLOW, SWIFT_FUNCTION void rl_mutex_lock(uint32_t number, SWIFT_SELF void *handle)) {
    REAL_AT(rl_mutex_lock, LOCK_SLOW)(number, handle);
    __tsan_acquire(handle);
}

NAMED(UNLOCK_SLOW, SWIFT_FUNCTION void rl_mutex_unlock(SWIFT_SELF void *handle)) {
    __tsan_release(handle);
    REAL_AT(rl_mutex_unlock, UNLOCK_SLOW)(handle);
}

#endif
