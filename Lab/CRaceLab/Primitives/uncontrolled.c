// The entry points of what the lab does not control. Dispatch sources, channels and workloops, and
// the timers of run loops run code beside the threads of the scenario; queues that are suspended,
// spin locks and barriers of POSIX order what threads do, and `pthread_cancel` ends one. So when
// the code under test uses one, the exploration ends without a verdict.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/dispatch.h"
#include "Scheduler/outside.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <pthread.h>
#include <signal.h>
#include <sys/sem.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/// Does not depend on the direct caller: on a lab thread every call serves the code under test,
/// except those that Dispatch makes for itself.
static void meet(const char *what, rl_place place) {
    if (!rl_is_of_lab() || rl_is_in_library(place.pc, "libdispatch")) return;
    rl_library_between(&place);
    rl_meet_outside(what, place);
}

// MARK: - Dispatch

REPLACES(dispatch_object, dispatch_source_create,
         (const void *type, uintptr_t handle, uintptr_t mask, dispatch_object queue),
         (type, handle, mask, queue),
         meet("makes a dispatch source, as a timer and a sleep with a tolerance do", RL_CALLER))

#define IO meet("reads or writes with Dispatch", RL_CALLER)
REPLACES(dispatch_object, dispatch_io_create,
         (unsigned long type, int file, dispatch_object queue, void *done),
         (type, file, queue, done), IO)
REPLACES(dispatch_object, dispatch_io_create_with_path,
         (unsigned long type, const char *path, int flags, mode_t mode, dispatch_object queue,
          void *done),
         (type, path, flags, mode, queue, done), IO)
REPLACES(void, dispatch_read, (int file, size_t length, dispatch_object queue, void *done),
         (file, length, queue, done), IO)
REPLACES(void, dispatch_write, (int file, dispatch_object data, dispatch_object queue, void *done),
         (file, data, queue, done), IO)

REPLACES(dispatch_object, dispatch_workloop_create, (const char *label), (label),
         meet("makes a workloop", RL_CALLER))
REPLACES(dispatch_object, dispatch_workloop_create_inactive, (const char *label), (label),
         meet("makes a workloop", RL_CALLER))

// MARK: - Synchronization

REPLACES(void, dispatch_suspend, (dispatch_object object), (object),
         meet("suspends a queue", RL_CALLER))
REPLACES(void, dispatch_resume, (dispatch_object object), (object),
         meet("resumes a queue", RL_CALLER))
REPLACES(void, dispatch_activate, (dispatch_object object), (object),
         meet("activates a queue", RL_CALLER))

/// The toolchain's libraries use these for themselves.
static void meet_call_of_program(const char *what, rl_place place) {
    const bool is_listening = rl_is_of_lab() && !rl_is_ignoring();
    if (is_listening && rl_is_of_program(place.pc)) rl_meet_outside(what, place);
}

// An operation of an earlier exploration may still be in this queue. Then the queue sends nothing
// to Dispatch, and the lab would not notice a new operation.
#define MAIN_OPERATIONS "$s10Foundation14OperationQueueC4mainACvgZ"

SWIFT_FUNCTION void *rl_main_operations(SWIFT_SELF void *type) __asm__(MAIN_OPERATIONS);

SWIFT_FUNCTION void *rl_main_operations(SWIFT_SELF void *type) {
    meet_call_of_program("uses OperationQueue.main", RL_CALLER);
    return REAL_AT(rl_main_operations, MAIN_OPERATIONS)(type);
}

#define ORDERS(name, parameters, arguments, what) \
    REPLACES(int, name, parameters, arguments, meet_call_of_program(what, RL_CALLER))
ORDERS(pthread_spin_lock, (pthread_spinlock_t volatile * lock), (lock), "uses a POSIX spin lock")
ORDERS(pthread_spin_trylock, (pthread_spinlock_t volatile * lock), (lock), "uses a POSIX spin lock")
ORDERS(pthread_spin_unlock, (pthread_spinlock_t volatile * lock), (lock), "uses a POSIX spin lock")
ORDERS(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier), "uses a POSIX barrier")
ORDERS(pthread_cancel, (pthread_t thread), (thread), "cancels a thread with pthread_cancel")
ORDERS(pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result),
       "checks with pthread_tryjoin_np whether a thread has ended")
ORDERS(pthread_timedjoin_np, (pthread_t thread, void **result, const struct timespec *until),
       (thread, result, until), "waits with pthread_timedjoin_np for the end of a thread")
ORDERS(pthread_mutex_clocklock,
       (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until),
       (lock, clock, until), "takes a lock with pthread_mutex_clocklock")
ORDERS(pthread_cond_clockwait,
       (pthread_cond_t * condition, pthread_mutex_t *lock, clockid_t clock,
        const struct timespec *until),
       (condition, lock, clock, until), "waits with pthread_cond_clockwait")
#define TAKES_IN_TIME(kind)                                                                     \
    ORDERS(pthread_rwlock_timed##kind, (pthread_rwlock_t * lock, const struct timespec *until), \
           (lock, until), "takes a readers-writer lock with a time limit")                      \
    ORDERS(pthread_rwlock_clock##kind,                                                          \
           (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),            \
           (lock, clock, until), "takes a readers-writer lock with a time limit")
TAKES_IN_TIME(rdlock)
TAKES_IN_TIME(wrlock)
ORDERS(semop, (int set, struct sembuf *operations, size_t count), (set, operations, count),
       "uses a System V semaphore")

/// The handler runs on a thread that waits for its turn, or on any thread of the process. SIGKILL
/// has none.
static void meet_signal(bool is_for_us, int number, const char *what, rl_place place) {
    if (is_for_us && number != 0) meet_call_of_program(what, place);
}

#define SENDS(name, is_for_us, parameters, arguments)              \
    REPLACES(int, name, parameters, arguments,                     \
             meet_signal((is_for_us) && number != SIGKILL, number, \
                         "sends a signal to the process", RL_CALLER))
REPLACES(int, pthread_kill, (pthread_t thread, int number), (thread, number),
         meet_signal(true, number, "sends a signal to a thread", RL_CALLER))
SENDS(kill, to == getpid() || to == 0 || to == -1 || to == -getpgrp(), (pid_t to, int number),
      (to, number))
SENDS(killpg, to == getpgrp() || to == 0, (pid_t to, int number), (to, number))
SENDS(sigqueue, to == getpid(), (pid_t to, int number, const union sigval value),
      (to, number, value))

// MARK: - Run loops

static void set_timer(rl_place place) {
    if (rl_is_of_lab() && rl_is_in_library(place.pc, "libFoundation")) meet("uses a timer", place);
}

// Foundation calls this when a `Timer` is added to a run loop, and when a run loop runs.
REPLACES(int, timerfd_settime,
         (int file, int flags, const struct itimerspec *time, struct itimerspec *before),
         (file, flags, time, before), set_timer(RL_CALLER))

#endif
