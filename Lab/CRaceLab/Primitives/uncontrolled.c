// The entry points of what the lab does not control. Dispatch sources, channels and workloops, and
// the timers of run loops run code beside the threads of the scenario; queues that are suspended,
// spin locks and barriers of POSIX order what threads do, and `pthread_cancel` ends one. So when the
// code under test uses one, the exploration ends without a verdict.
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

typedef dispatch_object (*source_create)(const void *, uintptr_t, uintptr_t, dispatch_object);
REAL(source_create, real_source_create, "dispatch_source_create")

dispatch_object dispatch_source_create(const void *type, uintptr_t handle, uintptr_t mask,
                                       dispatch_object queue) {
    meet("makes a dispatch source, as a timer and a sleep with a tolerance do", RL_CALLER);
    return real_source_create()(type, handle, mask, queue);
}

typedef dispatch_object (*io_create)(unsigned long, int, dispatch_object, void *);
typedef dispatch_object (*io_create_with_path)(unsigned long, const char *, int, mode_t,
                                               dispatch_object, void *);
typedef void (*read_on)(int, size_t, dispatch_object, void *);
typedef void (*write_on)(int, dispatch_object, dispatch_object, void *);
REAL(io_create, real_io_create, "dispatch_io_create")
REAL(io_create_with_path, real_io_create_with_path, "dispatch_io_create_with_path")
REAL(read_on, real_read, "dispatch_read")
REAL(write_on, real_write, "dispatch_write")

static const char io[] = "reads or writes with Dispatch";

dispatch_object dispatch_io_create(unsigned long type, int file, dispatch_object queue,
                                   void *done) {
    meet(io, RL_CALLER);
    return real_io_create()(type, file, queue, done);
}

dispatch_object dispatch_io_create_with_path(unsigned long type, const char *path, int flags,
                                             mode_t mode, dispatch_object queue, void *done) {
    meet(io, RL_CALLER);
    return real_io_create_with_path()(type, path, flags, mode, queue, done);
}

void dispatch_read(int file, size_t length, dispatch_object queue, void *done) {
    meet(io, RL_CALLER);
    real_read()(file, length, queue, done);
}

void dispatch_write(int file, dispatch_object data, dispatch_object queue, void *done) {
    meet(io, RL_CALLER);
    real_write()(file, data, queue, done);
}

typedef dispatch_object (*workloop_create)(const char *);
REAL(workloop_create, real_workloop, "dispatch_workloop_create")
REAL(workloop_create, real_inactive_workloop, "dispatch_workloop_create_inactive")

dispatch_object dispatch_workloop_create(const char *label) {
    meet("makes a workloop", RL_CALLER);
    return real_workloop()(label);
}

dispatch_object dispatch_workloop_create_inactive(const char *label) {
    meet("makes a workloop", RL_CALLER);
    return real_inactive_workloop()(label);
}

// MARK: - Synchronization

typedef void (*on_object)(dispatch_object);
REAL(on_object, real_suspend, "dispatch_suspend")
REAL(on_object, real_resume, "dispatch_resume")
REAL(on_object, real_activate, "dispatch_activate")

void dispatch_suspend(dispatch_object object) {
    meet("suspends a queue", RL_CALLER);
    real_suspend()(object);
}

void dispatch_resume(dispatch_object object) {
    meet("resumes a queue", RL_CALLER);
    real_resume()(object);
}

void dispatch_activate(dispatch_object object) {
    meet("activates a queue", RL_CALLER);
    real_activate()(object);
}

/// The toolchain's libraries use these for themselves.
static void meet_call_of_program(const char *what, rl_place place) {
    const bool is_listening = rl_is_of_lab() && !rl_is_ignoring();
    if (is_listening && rl_is_of_program(place.pc)) rl_meet_outside(what, place);
}

#define ORDERS(type, name, what)               \
    typedef int (*on_##name)(type);            \
    REAL(on_##name, real_##name, #name)        \
    int name(type object) {                    \
        meet_call_of_program(what, RL_CALLER); \
        return real_##name()(object);          \
    }

ORDERS(pthread_spinlock_t volatile *, pthread_spin_lock, "uses a POSIX spin lock")
ORDERS(pthread_spinlock_t volatile *, pthread_spin_trylock, "uses a POSIX spin lock")
ORDERS(pthread_spinlock_t volatile *, pthread_spin_unlock, "uses a POSIX spin lock")
ORDERS(pthread_barrier_t *, pthread_barrier_wait, "uses a POSIX barrier")
ORDERS(pthread_t, pthread_cancel, "cancels a thread with pthread_cancel")

/// The handler runs on a thread that waits for its turn.
typedef int (*send_signal)(pthread_t, int);
REAL(send_signal, real_send_signal, "pthread_kill")
int pthread_kill(pthread_t thread, int number) {
    if (number != 0) meet_call_of_program("sends a signal to a thread", RL_CALLER);
    return real_send_signal()(thread, number);
}

/// The handler runs on any thread of the process. SIGKILL has none.
static void meet_signal(bool is_for_us, int number, rl_place place) {
    if (is_for_us && number != 0 && number != SIGKILL)
        meet_call_of_program("sends a signal to the process", place);
}

#define SENDS(name, is_for_us, parameters, arguments) \
    typedef int(*type_of_##name) parameters;          \
    REAL(type_of_##name, real_##name, #name)          \
    int name parameters {                             \
        meet_signal(is_for_us, number, RL_CALLER);    \
        return real_##name() arguments;               \
    }
SENDS(kill, to == getpid() || to == 0 || to == -1 || to == -getpgrp(), (pid_t to, int number),
      (to, number))
SENDS(killpg, to == getpgrp() || to == 0, (pid_t to, int number), (to, number))
SENDS(sigqueue, to == getpid(), (pid_t to, int number, const union sigval value),
      (to, number, value))

typedef int (*try_join)(pthread_t, void **);
REAL(try_join, real_try_join, "pthread_tryjoin_np")
int pthread_tryjoin_np(pthread_t thread, void **result) {
    meet_call_of_program("checks with pthread_tryjoin_np whether a thread has ended", RL_CALLER);
    return real_try_join()(thread, result);
}

typedef int (*join_until)(pthread_t, void **, const struct timespec *);
REAL(join_until, real_join_until, "pthread_timedjoin_np")
int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until) {
    meet_call_of_program("waits with pthread_timedjoin_np for the end of a thread", RL_CALLER);
    return real_join_until()(thread, result, until);
}

typedef int (*operate)(int, struct sembuf *, size_t);
REAL(operate, real_operate, "semop")
int semop(int set, struct sembuf *operations, size_t count) {
    meet_call_of_program("uses a System V semaphore", RL_CALLER);
    return real_operate()(set, operations, count);
}

// MARK: - Run loops

// Foundation calls this when a `Timer` is added to a run loop, and when a run loop runs.

typedef int (*set_time)(int, int, const struct itimerspec *, struct itimerspec *);
REAL(set_time, real_set_time, "timerfd_settime")

int timerfd_settime(int file, int flags, const struct itimerspec *time, struct itimerspec *before) {
    const rl_place place = RL_CALLER;
    if (rl_is_of_lab() && rl_is_in_library(place.pc, "libFoundation")) meet("uses a timer", place);
    return real_set_time()(file, flags, time, before);
}

#endif
