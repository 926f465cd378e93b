#include "Platform/parker.h"

#if defined(__linux__)

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CLOSED, OPEN, CLOSED_WITH_SLEEPER };

void rl_parker_make(parker *p) { atomic_store(&p->state, CLOSED); }

void rl_unpark(parker *p) {
    if (atomic_exchange(&p->state, OPEN) == CLOSED_WITH_SLEEPER)
        syscall(SYS_futex, &p->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool goes_through(parker *p) {
    uint32_t state = OPEN;
    return atomic_compare_exchange_strong(&p->state, &state, CLOSED);
}

/// The number of a thread that has ended, and may not be gone yet.
static _Atomic uint32_t leaving;

void rl_ends_after_unpark(uint32_t number) { atomic_store(&leaving, number); }

static void wait_until_it_is_gone(void) {
    const uint32_t number = atomic_exchange(&leaving, 0);
    const int patience = 1000;
    for (int i = 0; i < patience && number && syscall(SYS_tgkill, getpid(), number, 0) == 0; i++)
        syscall(SYS_sched_yield);
}

bool rl_park(parker *p, const struct timespec *at_most) {
    while (!goes_through(p)) {
        uint32_t state = CLOSED;
        atomic_compare_exchange_strong(&p->state, &state, CLOSED_WITH_SLEEPER);
        long result = syscall(SYS_futex, &p->state, FUTEX_WAIT_PRIVATE, CLOSED_WITH_SLEEPER,
                              at_most, NULL, 0);
        if (result == -1 && errno == ETIMEDOUT) return goes_through(p);
    }
    if (leaving) wait_until_it_is_gone();
    return true;
}

#else

#include <dispatch/dispatch.h>

void rl_parker_make(parker *p) { p->semaphore = dispatch_semaphore_create(0); }
void rl_unpark(parker *p) { dispatch_semaphore_signal(p->semaphore); }
void rl_ends_after_unpark(uint32_t number) { (void)number; }

bool rl_park(parker *p, const struct timespec *at_most) {
    dispatch_time_t until =
        at_most
            ? dispatch_time(DISPATCH_TIME_NOW, at_most->tv_sec * 1000000000ll + at_most->tv_nsec)
            : DISPATCH_TIME_FOREVER;
    return dispatch_semaphore_wait(p->semaphore, until) == 0;
}

#endif
