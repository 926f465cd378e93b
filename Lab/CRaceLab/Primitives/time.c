// The times of Dispatch. For the code under test, time stands still; see State/inputs.c.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/clock.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Search/waking.h"
#include "State/inputs.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_QUEUES

uint64_t dispatch_time(uint64_t when, int64_t delta);
uint64_t dispatch_walltime(const void *when, int64_t delta);

/// What the clocks showed when they were first read in this exploration.
static struct { uint64_t exploration, time, time_of_day; } base;

static uint64_t passed(void) {
    const bool is_in_scenario = rl_runs_scenario();
    const uint64_t exploration = is_in_scenario ? lab.scenario->exploration : base.exploration;
    if (base.time == 0 || base.exploration != exploration) {
        base.exploration = exploration;
        base.time = REAL(dispatch_time)(NOW, 0);
        base.time_of_day = REAL(dispatch_walltime)(NULL, 0);
    }
    return is_in_scenario ? rl_look_at_clock() : 0;
}

static uint64_t still_time(void) {
    const uint64_t nanoseconds = passed();
    return base.time + nanoseconds;
}

static uint64_t still_walltime(void) {
    const uint64_t nanoseconds = passed();
    return base.time_of_day - nanoseconds;
}

/// Whether the code under test asks for the time, also while it sets up a scenario.
static bool shows_still_time(rl_place place) {
    if (rl_active && !rl_sees(FAMILY, place)) return false;
    if (!rl_runs_scenario() || !rl_is_call_of_program(&place)) return false;
    rl_comes_to_clock(place);
    return true;
}

uint64_t dispatch_time(uint64_t when, int64_t delta) {
    if (when == NOW && shows_still_time(RL_CALLER)) when = still_time();
    return REAL(dispatch_time)(when, delta);
}

uint64_t dispatch_walltime(const void *when, int64_t delta) {
    if (when || !shows_still_time(RL_CALLER)) return REAL(dispatch_walltime)(when, delta);
    return REAL(dispatch_time)(still_walltime(), delta);
}

// Wall-clock times are negative: Dispatch counts them down from 0.
bool rl_has_passed(uint64_t time) {
    if (time == NOW) return true;
    bool is_time_of_day = (int64_t)time < 0;
    return is_time_of_day ? (int64_t)time >= (int64_t)still_walltime() : time <= still_time();
}

#endif
