// Semaphores of Dispatch. Swift's Dispatch module calls these functions by name.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Model/locks.h"
#include "Model/misuse.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Scheduler/outside.h"
#include "Scheduler/points.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_SEMAPHORES

typedef intptr_t (*semaphore_wait)(dispatch_object, uint64_t);
typedef intptr_t (*semaphore_signal)(dispatch_object);
REAL(semaphore_wait, real_wait, "dispatch_semaphore_wait")
REAL(semaphore_signal, real_signal, "dispatch_semaphore_signal")

/// The number of external references to an object, minus one.
static int32_t references(dispatch_object object) { return ((const int32_t *)object)[3]; }

typedef dispatch_object (*semaphore_create)(intptr_t);
REAL(semaphore_create, real_semaphore_create, "dispatch_semaphore_create")

dispatch_object dispatch_semaphore_create(intptr_t count) {
    dispatch_object semaphore = real_semaphore_create()(count);
    rl_made(semaphore);
    if (semaphore && references(semaphore) == 0) rl_made_semaphore(semaphore, count);
    return semaphore;
}

static void signal_once(void *semaphore) { real_signal()(semaphore); }

/// During a run only the engine keeps the count. A real semaphore left below its initial count,
/// after a deadlock, could not be freed. The count starts from that of the real semaphore, which is
/// read by decrementing it to 0 and restoring it.
static void make_counted(dispatch_object semaphore) {
    if (rl_is_counted(semaphore)) return;
    int64_t count = 0;
    while (real_wait()(semaphore, NOW) == 0) count++;
    for (int64_t i = 0; i < count; i++) real_signal()(semaphore);
    rl_set_signaller(signal_once);
    rl_count(semaphore, count);
}

/// Runs work that was sent to queues and not yet done: it may signal the semaphore.
static intptr_t wait_between_runs(dispatch_object semaphore, uint64_t timeout) {
    while (rl_is_between_runs_here()) {
        if (real_wait()(semaphore, NOW) == 0) return 0;
        if (!rl_do_waiting_work()) break;
    }
    return real_wait()(semaphore, timeout);
}

intptr_t dispatch_semaphore_wait(dispatch_object semaphore, uint64_t timeout) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return wait_between_runs(semaphore, timeout);
    make_counted(semaphore);
    uint32_t step = timeout == FOREVER    ? rl_point(RL_ACQUIRE, semaphore, place)
                    : rl_has_passed(timeout) ? rl_point(RL_TRY_ACQUIRE, semaphore, place)
                                          : rl_timed_point(RL_ACQUIRE, semaphore, place);
    return rl_got_it(step) ? 0 : 1;
}

intptr_t dispatch_semaphore_signal(dispatch_object semaphore) {
    IS_LISTENED_TO(place);
    if (!is_listened_to) return real_signal()(semaphore);
    make_counted(semaphore);
    rl_point(RL_SIGNAL, semaphore, place);
    return 0;
}

typedef void (*release_object)(dispatch_object);
REAL(release_object, real_release, "dispatch_release")

void dispatch_release(dispatch_object object) {
    rl_place place = RL_CALLER;
    if (!rl_active || !rl_is_call_of_program(&place)) place.pc = 0;
    if (references(object) == 0) rl_frees_semaphore(object, place);
    real_release()(object);
}

#endif
