// The entry points that identify the main thread and the main queue. On lab threads, the main
// thread is the one that runs the work of the main queue. The real main thread has other work, such
// as waiting for the exploration.

#include "Primitives/dispatch.h"
#include "State/state.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdio.h>
#include <stdlib.h>

static bool is_main(dispatch_object queue) { return rl_kind_of_queue(queue) == MAIN; }

// MARK: - Foundation

bool _CFIsMainThread(void) {
    return rl_is_of_lab() ? rl_stands_for_main_thread() : REAL(_CFIsMainThread)();
}

// MARK: - Dispatch, which Swift's own checks call

void dispatch_assert_queue(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) REAL(dispatch_assert_queue)(queue);
}

void dispatch_assert_queue_barrier(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue)) REAL(dispatch_assert_queue_barrier)(queue);
}

void dispatch_assert_queue_not(dispatch_object queue) {
    if (!rl_stands_for_main_thread() || !is_main(queue))
        return REAL(dispatch_assert_queue_not)(queue);
    fputs("BUG IN CLIENT OF LIBDISPATCH: Assertion failed: Block was not expected to execute on "
          "queue [com.apple.main-thread]\n",
          stderr);
    abort();
}

#endif
