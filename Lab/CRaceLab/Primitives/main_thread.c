// The entry points that identify the main thread and the main queue. On lab threads, the main
// thread is the one that runs the work of the main queue. The real main thread has other work, such
// as waiting for the exploration.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/dispatch.h"
#include "State/state.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdio.h>
#include <stdlib.h>

static bool is_main(dispatch_object queue) { return rl_kind_of_queue(queue) == MAIN; }

// MARK: - Foundation

typedef bool (*ask)(void);
REAL(ask, real_is_main_thread, "_CFIsMainThread")

bool _CFIsMainThread(void) {
    return rl_is_of_lab() ? rl_stands_for_main_thread() : real_is_main_thread()();
}

// MARK: - Dispatch, which Swift's own checks call

typedef void (*assert_queue)(dispatch_object);
REAL(assert_queue, real_assert, "dispatch_assert_queue")
REAL(assert_queue, real_assert_barrier, "dispatch_assert_queue_barrier")
REAL(assert_queue, real_assert_not, "dispatch_assert_queue_not")

void dispatch_assert_queue(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) real_assert()(queue);
}

void dispatch_assert_queue_barrier(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) real_assert_barrier()(queue);
}

void dispatch_assert_queue_not(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) return real_assert_not()(queue);
    fputs("BUG IN CLIENT OF LIBDISPATCH: Assertion failed: Block was not expected to execute on "
          "queue [com.apple.main-thread]\n",
          stderr);
    abort();
}

#endif
