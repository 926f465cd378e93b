// The entry points of what the lab does not control. Dispatch sources, channels and workloops, and
// the timers of run loops run code beside the threads of the scenario; queues that are suspended,
// spin locks and barriers of POSIX order what threads do, and `pthread_cancel` ends one. So when
// the code under test uses one, the exploration ends without a verdict.

#include "Primitives/dispatch.h"
#include "Scheduler/outside.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <signal.h>
#include <unistd.h>

/// Does not depend on the direct caller: on a lab thread every call serves the code under test,
/// except those that Dispatch makes for itself.
static void meet(const char *what, rl_place place) {
    if (!rl_is_of_lab() || rl_is_in_library(place.pc, "libdispatch")) return;
    rl_library_between(&place);
    rl_meet_outside(what, place);
}

// MARK: - Dispatch

REPLACES(dispatch_source_create,
         meet("makes a dispatch source, as a timer and a sleep with a tolerance do", RL_CALLER))

#define IO meet("reads or writes with Dispatch", RL_CALLER)
REPLACES(dispatch_io_create, IO)
REPLACES(dispatch_io_create_with_path, IO)
REPLACES(dispatch_read, IO)
REPLACES(dispatch_write, IO)

REPLACES(dispatch_workloop_create, meet("makes a workloop", RL_CALLER))
REPLACES(dispatch_workloop_create_inactive, meet("makes a workloop", RL_CALLER))

// MARK: - Synchronization

REPLACES(dispatch_suspend, meet("suspends a queue", RL_CALLER))
REPLACES(dispatch_resume, meet("resumes a queue", RL_CALLER))
REPLACES(dispatch_activate, meet("activates a queue", RL_CALLER))

/// The toolchain's libraries use these for themselves.
static void meet_call_of_program(const char *what, rl_place place) {
    const bool is_listening = rl_is_of_lab() && !rl_is_ignoring();
    if (is_listening && rl_is_of_program(place.pc)) rl_meet_outside(what, place);
}

// An operation of an earlier exploration may still be in this queue. Then the queue sends nothing
// to Dispatch, and the lab would not notice a new operation.
#define MAIN_OPERATIONS "$s10Foundation14OperationQueueC4mainACvgZ"

NAMED(MAIN_OPERATIONS, SWIFT_FUNCTION void *rl_main_operations(SWIFT_SELF void *type)) {
    meet_call_of_program("uses OperationQueue.main", RL_CALLER);
    return REAL_AT(rl_main_operations, MAIN_OPERATIONS)(type);
}

#define ORDERS(name, what) REPLACES(name, meet_call_of_program(what, RL_CALLER))
ORDERS(pthread_spin_lock, "uses a POSIX spin lock")
ORDERS(pthread_spin_trylock, "uses a POSIX spin lock")
ORDERS(pthread_spin_unlock, "uses a POSIX spin lock")
ORDERS(pthread_barrier_wait, "uses a POSIX barrier")
ORDERS(pthread_cancel, "cancels a thread with pthread_cancel")
ORDERS(pthread_tryjoin_np, "checks with pthread_tryjoin_np whether a thread has ended")
ORDERS(pthread_timedjoin_np, "waits with pthread_timedjoin_np for the end of a thread")
ORDERS(pthread_mutex_clocklock, "takes a lock with pthread_mutex_clocklock")
ORDERS(pthread_cond_clockwait, "waits with pthread_cond_clockwait")
#define LIMITED "takes a readers-writer lock with a time limit"
ORDERS(pthread_rwlock_timedrdlock, LIMITED)
ORDERS(pthread_rwlock_timedwrlock, LIMITED)
ORDERS(pthread_rwlock_clockrdlock, LIMITED)
ORDERS(pthread_rwlock_clockwrlock, LIMITED)
ORDERS(semop, "uses a System V semaphore")

/// The handler runs on a thread that waits for its turn, or on any thread of the process. SIGKILL
/// has none.
static void meet_signal(bool is_for_us, int number, rl_place place) {
    if (is_for_us && number != 0 && number != SIGKILL)
        meet_call_of_program("sends a signal to the process", place);
}

static bool is_own_group(pid_t group) { return group == getpgrp() || group == 0; }

static bool reaches_us(pid_t to) {
    return to == getpid() || to == 0 || to == -1 || to == -getpgrp();
}

REPLACES(pthread_kill,
         if ((int)b != 0) meet_call_of_program("sends a signal to a thread", RL_CALLER))
REPLACES(kill, meet_signal(reaches_us((pid_t)a), (int)b, RL_CALLER))
REPLACES(killpg, meet_signal(is_own_group((pid_t)a), (int)b, RL_CALLER))
REPLACES(sigqueue, meet_signal((pid_t)a == getpid(), (int)b, RL_CALLER))

// MARK: - Run loops

static void set_timer(rl_place place) {
    if (rl_is_of_lab() && rl_is_in_library(place.pc, "libFoundation")) meet("uses a timer", place);
}

// Foundation calls this when a `Timer` is added to a run loop, and when a run loop runs.
REPLACES(timerfd_settime, set_timer(RL_CALLER))

#endif
