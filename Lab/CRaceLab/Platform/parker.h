// Parkers, in which threads wait for their turn. They call nothing in which the lab would do
// something.

#pragma once

#include "Platform/build.h"

#include <stdatomic.h>
#include <time.h>

typedef struct {
#if defined(__APPLE__)
    struct dispatch_semaphore_s *semaphore;
#else
    _Atomic uint32_t state;
#endif
} parker;

void rl_parker_make(parker *p);
void rl_unpark(parker *p);
/// The calling thread, to which the system has given this number, unparks another one, and then
/// ends. On Linux, the other one waits until it is gone, because it returns memory in its last
/// moment: this way, memory usually has the same addresses in each run.
void rl_ends_after_unpark(uint32_t number);
/// Returns false if the time-out passed before an unpark. NULL: waits forever.
bool rl_park(parker *p, const struct timespec *at_most);

/// Sleeps, also where the lab lets other sleeps take no time.
static inline void rl_nap(const struct timespec *time) {
    parker p;
    rl_parker_make(&p);
    rl_park(&p, time);
}
