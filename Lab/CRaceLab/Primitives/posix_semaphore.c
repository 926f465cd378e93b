// POSIX semaphores.
//
// During a run only the engine keeps the count. A semaphore with a name, or one that processes
// share, may be signalled by another process: there is no verdict then.

#include "Primitives/clock.h"
#include "Primitives/dispatch.h"
#include "Primitives/plain_memory.h"
#include "Primitives/points.h"
#include "Primitives/semaphore.h"
#include "Scheduler/outside.h"
#include "State/shadow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__GLIBC__)

#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>

static const char shared[] = "uses a POSIX semaphore that has a name, or that processes share";

static void change(void *semaphore, int64_t by) {
    for (; by > 0; by--) REAL(sem_post)(semaphore);
    for (; by < 0; by++) REAL(sem_trywait)(semaphore);
}

/// Starts counting a semaphore on its first use in this run.
static void meet(sem_t *semaphore) {
    if (rl_knows_count(semaphore)) return;
    int count = 0;
    while (REAL(sem_trywait)(semaphore) == 0) count++;
    change(semaphore, count);
    rl_set_count(semaphore, count, change);
}

/// Whether the code under test makes the call in a run. The toolchain's libraries use semaphores
/// for themselves. What follows the count in the C library's `sem_t` tells if processes share it.
static bool is_by_program(sem_t *semaphore, rl_place place) {
    if (!rl_is_of_lab() || rl_is_ignoring() || !rl_is_of_program(place.pc)) return false;
    const bool is_shared = ((const int *)semaphore)[2] != 0;
    if (is_shared) rl_meet_outside(shared, place);
    if (!rl_active) return false;
    rl_is_used_as_lock(semaphore, place);
    meet(semaphore);
    return true;
}

/// Returns the result of a step that waits or tries: `error` is that of a step that failed.
static int result(uint32_t step, int error) {
    if (rl_got_it(step)) return 0;
    errno = error;
    return -1;
}

// MARK: - Making a semaphore

int sem_init(sem_t *semaphore, int is_shared, unsigned count) {
    const int result = REAL(sem_init)(semaphore, is_shared, count);
    if (result != 0 || !rl_is_of_lab()) return result;
    rl_made(semaphore);
    // Its address may be that of a semaphore that this run has known.
    if (rl_knows_count(semaphore)) rl_set_count(semaphore, count, change);
    return result;
}

sem_t *sem_open(const char *name, int flags, ...) {
    const rl_place place = RL_CALLER;
    va_list rest;
    va_start(rest, flags);
    const unsigned mode = va_arg(rest, unsigned), count = va_arg(rest, unsigned);
    va_end(rest);
    if (rl_is_of_lab() && rl_is_of_program(place.pc)) rl_meet_outside(shared, place);
    return REAL(sem_open)(name, flags, mode, count);
}

// MARK: - Waiting

int sem_wait(sem_t *semaphore) {
    const rl_place place = RL_CALLER;
    if (is_by_program(semaphore, place)) return result(rl_point(&rl_acquire, semaphore, place), 0);
    // Runs work that was sent to queues and not yet done: it may signal the semaphore.
    while (rl_is_between_runs_here() && rl_is_of_program(place.pc)) {
        if (REAL(sem_trywait)(semaphore) == 0) return 0;
        if (!rl_do_waiting_work()) break;
    }
    return REAL(sem_wait)(semaphore);
}

int sem_trywait(sem_t *semaphore) {
    const rl_place place = RL_CALLER;
    if (!is_by_program(semaphore, place)) return REAL(sem_trywait)(semaphore);
    return result(rl_point(&rl_try_to_acquire, semaphore, place), EAGAIN);
}

static int wait_until_moment(sem_t *semaphore, clockid_t clock, const struct timespec *until,
                             rl_place place) {
    if (!is_by_program(semaphore, place)) {
        const struct timespec really = rl_real_moment(clock, until);
        return REAL(sem_clockwait)(semaphore, clock, &really);
    }
    if (rl_has_come(clock, until))
        return result(rl_point(&rl_try_to_acquire, semaphore, place), ETIMEDOUT);
    return result(rl_timed_point(&rl_acquire, semaphore, place, rl_model_moment(clock, until)),
                  ETIMEDOUT);
}

int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    return wait_until_moment(semaphore, CLOCK_REALTIME, until, RL_CALLER);
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
    return wait_until_moment(semaphore, clock, until, RL_CALLER);
}

// MARK: - Signalling, and reading the count

/// Orders nothing.
static const rl_operation read_count = {.kind = RL_ATOMIC_READ};

int sem_post(sem_t *semaphore) {
    const rl_place place = RL_CALLER;
    if (!is_by_program(semaphore, place)) return REAL(sem_post)(semaphore);
    rl_point(&rl_signal, semaphore, place);
    return 0;
}

int sem_getvalue(sem_t *semaphore, int *value) {
    const rl_place place = RL_CALLER;
    if (!is_by_program(semaphore, place)) return REAL(sem_getvalue)(semaphore, value);
    rl_point(&read_count, semaphore, place);
    *value = (int)rl_lock_at((uintptr_t)semaphore)->count;
    return 0;
}

int sem_destroy(sem_t *semaphore) {
    const rl_place place = RL_CALLER;
    // The order of this and of what another thread does to the semaphore matters.
    static const rl_operation destroy = {.kind = RL_ATOMIC_WRITE};
    if (is_by_program(semaphore, place)) {
        rl_point(&destroy, semaphore, place);
        rl_lock_at((uintptr_t)semaphore)->change = NULL;
    }
    return REAL(sem_destroy)(semaphore);
}

#endif
