// Gates: where a thread waits for its turn. They use nothing on which the lab listens.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "laboratory.h"

#ifndef RL_UNDER_THREAD_SANITIZER

#if defined(__linux__)

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void rl_gate_make(gate *g) { atomic_store(&g->open, 0); }

void rl_gate_open(gate *g) {
    atomic_store(&g->open, 1);
    syscall(SYS_futex, &g->open, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool rl_gate_wait(gate *g, const struct timespec *at_most) {
    while (!atomic_exchange(&g->open, 0)) {
        long result = syscall(SYS_futex, &g->open, FUTEX_WAIT_PRIVATE, 0, at_most, NULL, 0);
        if (result == -1 && errno == ETIMEDOUT) return atomic_exchange(&g->open, 0);
    }
    return true;
}

#else

void rl_gate_make(gate *g) { g->semaphore = dispatch_semaphore_create(0); }
void rl_gate_open(gate *g) { dispatch_semaphore_signal(g->semaphore); }

bool rl_gate_wait(gate *g, const struct timespec *at_most) {
    dispatch_time_t until =
        at_most ? dispatch_time(DISPATCH_TIME_NOW, at_most->tv_sec * 1000000000ll + at_most->tv_nsec)
                : DISPATCH_TIME_FOREVER;
    return dispatch_semaphore_wait(g->semaphore, until) == 0;
}

#endif

#endif
