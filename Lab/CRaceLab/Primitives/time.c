// The times of Dispatch. For the code under test, time stands still; see State/inputs.c.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Search/waking.h"
#include "State/inputs.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_QUEUES

typedef uint64_t (*time_after)(uint64_t, int64_t);
typedef uint64_t (*time_of_day)(const void *, int64_t);
REAL(time_after, real_time, "dispatch_time")
REAL(time_of_day, real_walltime, "dispatch_walltime")

static uint64_t passed(void) { return rl_runs_scenario() ? rl_look_at_clock() : 0; }

static uint64_t still_time(void) {
    static uint64_t time;
    if (!time) time = real_time()(NOW, 0);
    return time + passed();
}

static uint64_t still_walltime(void) {
    static uint64_t time;
    if (!time) time = real_walltime()(NULL, 0);
    return time - passed();
}

uint64_t dispatch_time(uint64_t when, int64_t delta) {
    IS_LISTENED_TO(place);
    return real_time()(is_listened_to && when == NOW ? still_time() : when, delta);
}

uint64_t dispatch_walltime(const void *when, int64_t delta) {
    IS_LISTENED_TO(place);
    if (!is_listened_to || when) return real_walltime()(when, delta);
    return real_time()(still_walltime(), delta);
}

// Wall-clock times are negative: Dispatch counts them down from 0.
bool rl_has_passed(uint64_t time) {
    if (time == NOW) return true;
    bool is_time_of_day = (int64_t)time < 0;
    return is_time_of_day ? (int64_t)time >= (int64_t)still_walltime() : time <= still_time();
}

#endif
