// The clocks. For the code under test, time stands still; see State/inputs.c.

#include "Primitives/clock.h"
#include "Model/delays.h"
#include "Platform/stack.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "Search/waking.h"
#include "State/inputs.h"
#include "Symbols/call_sites.h"

static bool skips_sleeps;

void rl_skip_sleeps(void) { skips_sleeps = true; }

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <sched.h>
#include <sys/time.h>
#include <unistd.h>

enum { BILLION = 1000000000 };

/// For how many nanoseconds threads seem to have slept between the runs: see rl_skip_sleeps.
static _Atomic uint64_t skipped;

/// What a clock showed when it was first read in this exploration.
static struct {
    uint64_t exploration;
    struct timespec base;
} clocks[16];

typedef struct {
    uintptr_t caller;
    /// Whether it is the lab or Dispatch, which need the time as it is.
    bool needs_real_time;
    /// Whether it is CoreFoundation, which measures how long `Thread.sleep` has slept, or what looks
    /// for the time zone. That does not depend on how long others have slept.
    bool measures;
    /// Whether it is the runtime of tasks, for a program or for a sleep.
    bool is_of_tasks;
} reader;

static reader reader_at(uintptr_t caller) {
    static reader known[64];
    reader *r = &known[caller % (sizeof known / sizeof *known)];
    if (r->caller == caller) return *r;
    rl_ignore();
    const bool needs = rl_is_labs_own(caller) || rl_is_in_library(caller, "libdispatch");
    const bool measures =
        rl_is_in_library(caller, "libFoundation") || rl_is_in_library(caller, "lib_FoundationICU");
    *r = (reader){caller, needs, measures, rl_is_in_library(caller, "libswift_Concurrency")};
    rl_attend();
    return *r;
}

static const rl_operation begin = {.kind = RL_BEGIN};

static bool is_at_beginning(void) {
    return rl_active && me->thread != NO_THREAD && my_thread()->last_step < 0;
}

void rl_comes_to_clock(rl_place place) {
    if (is_at_beginning()) rl_point(&begin, my_thread(), place);
}

/// The same for a call of a function with this caller.
static void comes_from(uintptr_t caller) {
    if (!is_at_beginning()) return;
    rl_place place = {caller, 0};
    rl_library_between(&place);
    rl_comes_to_clock(place);
}

static void add(struct timespec *time, uint64_t nanoseconds) {
    const uint64_t sum = (uint64_t)time->tv_nsec + nanoseconds;
    time->tv_sec += (time_t)(sum / BILLION);
    time->tv_nsec = (long)(sum % BILLION);
}

static bool is_known(clockid_t clock) {
    return clock >= 0 && (size_t)clock < sizeof clocks / sizeof *clocks;
}

/// The time at which a clock stands still during this exploration: that of its first use. It is 0
/// if there is no such clock.
static struct timespec base_of(clockid_t clock) {
    if (!is_known(clock)) return (struct timespec){0};
    if (clocks[clock].exploration != rl_exploration.scenario->exploration) {
        clocks[clock].exploration = rl_exploration.scenario->exploration;
        clocks[clock].base = (struct timespec){0};
        clock_gettime(clock, &clocks[clock].base);
    }
    return clocks[clock].base;
}

bool rl_shows_still_time(clockid_t clock, struct timespec *time, uintptr_t caller) {
    if (!is_known(clock) || (!rl_runs_scenario() && skipped == 0)) return false;
    const reader by = reader_at(caller);
    if (by.needs_real_time) return false;
    if (!rl_runs_scenario()) {
        add(time, skipped);
        return true;
    }
    *time = base_of(clock);
    if (!by.measures) comes_from(caller);
    add(time, by.measures ? lab.run.time : rl_look_at_clock());
    const bool is_between_runs = me->thread == NO_THREAD;
    if (!by.measures && (!by.is_of_tasks || is_between_runs)) rl_note_clock_read();
    if (!is_between_runs) my_thread()->has_read_clock |= !by.measures && !by.is_of_tasks;
    return true;
}

bool rl_has_come(clockid_t clock, const struct timespec *moment) {
    if (!is_known(clock)) return false;
    rl_note_clock_read();
    struct timespec now = base_of(clock);
    add(&now, lab.run.time);
    // It matters how long others have slept.
    if (my_thread()->last_step >= 0) rl_runtime_did(RL_ATOMIC_READ, RL_CLOCK, 0);
    if (moment->tv_sec != now.tv_sec) return moment->tv_sec < now.tv_sec;
    return moment->tv_nsec <= now.tv_nsec;
}

/// Whether the code under test sets up a scenario or judges a run: then it really waits. During a
/// run only libraries do, with deadlines of their own.
static bool really_waits(void) { return rl_runs_scenario() && rl_is_between_runs_here(); }

struct timespec rl_real_moment(clockid_t clock, const struct timespec *moment) {
    struct timespec now;
    const bool is_valid = moment->tv_nsec >= 0 && moment->tv_nsec < BILLION;
    if (!really_waits() || !is_valid || clock_gettime(clock, &now) != 0) return *moment;
    struct timespec shown = base_of(clock);
    add(&shown, lab.run.time);
    const int64_t rest =
        (moment->tv_sec - shown.tv_sec) * BILLION + moment->tv_nsec - shown.tv_nsec;
    if (rest > 0) add(&now, (uint64_t)rest);
    return now;
}

time_t time(time_t *stored) {
    struct timespec now = {.tv_sec = REAL(time)(NULL)};
    rl_shows_still_time(CLOCK_REALTIME, &now, RL_CALLER.pc);
    if (stored) *stored = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict stored, void *restrict zone) {
    const int result = REAL(gettimeofday)(stored, zone);
    struct timespec now = {stored->tv_sec, stored->tv_usec * 1000};
    if (result == 0 && rl_shows_still_time(CLOCK_REALTIME, &now, RL_CALLER.pc))
        *stored = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

// MARK: - Sleep

/// Whether a sleep takes no time. In a scenario it takes none, because nothing else would run
/// meanwhile: the thread that sleeps keeps its turn. Only the clocks go on.
static bool takes_no_time(uint64_t nanoseconds, uintptr_t caller) {
    const bool is_in_scenario = rl_runs_scenario();
    if (is_in_scenario) comes_from(caller);
    if (is_in_scenario) rl_let_pass(nanoseconds);
    // What it leaves on the stack differs in each round of a loop that sleeps.
    if (is_in_scenario) rl_clean_stack();
    if (!is_in_scenario && !skips_sleeps) return false;
    if (!is_in_scenario) skipped += nanoseconds;
    sched_yield();
    return true;
}

/// In a scenario, no other thread could run meanwhile, but other processes would.
int sched_yield(void) { return rl_runs_scenario() ? 0 : REAL(sched_yield)(); }

static uint64_t nanoseconds(const struct timespec *time) {
    return (uint64_t)time->tv_sec * BILLION + (uint64_t)time->tv_nsec;
}

/// Otherwise the original function returns an error.
static bool is_valid(const struct timespec *time) {
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && (uint64_t)time->tv_nsec < BILLION;
}

int nanosleep(const struct timespec *time, struct timespec *rest) {
    return is_valid(time) && takes_no_time(nanoseconds(time), RL_CALLER.pc)
               ? 0
               : REAL(nanosleep)(time, rest);
}

/// The time until which it sleeps may be one that was computed from a clock that stands still.
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                    struct timespec *rest) {
    struct timespec now = {0};
    uint64_t length = nanoseconds(time);
    if (flags & TIMER_ABSTIME) {
        clock_gettime(clock, &now);
        rl_shows_still_time(clock, &now, RL_CALLER.pc);
        length = length > nanoseconds(&now) ? length - nanoseconds(&now) : 0;
    }
    return is_valid(time) && takes_no_time(length, RL_CALLER.pc)
               ? 0
               : REAL(clock_nanosleep)(clock, flags, time, rest);
}

int usleep(useconds_t time) {
    return takes_no_time((uint64_t)time * 1000, RL_CALLER.pc) ? 0 : REAL(usleep)(time);
}

unsigned sleep(unsigned seconds) {
    return takes_no_time((uint64_t)seconds * BILLION, RL_CALLER.pc) ? 0 : REAL(sleep)(seconds);
}

#define SLEEP_OF_FOUNDATION "$s10Foundation6ThreadC5sleep15forTimeIntervalySd_tFZ"

/// `Thread.sleep(forTimeInterval:)` computes times, and leaves them on the stack.
NAMED(SLEEP_OF_FOUNDATION, SWIFT_FUNCTION void rl_sleep(double seconds, SWIFT_SELF void *type)) {
    REAL_AT(rl_sleep, SLEEP_OF_FOUNDATION)(seconds, type);
    if (rl_is_of_lab()) rl_clean_stack();
}

// MARK: - The times of Dispatch

uint64_t dispatch_time(uint64_t when, int64_t delta);
uint64_t dispatch_walltime(const void *when, int64_t delta);

/// What a clock showed when it was first read in this exploration, in nanoseconds.
static uint64_t base_in_nanoseconds(clockid_t clock) {
    const struct timespec base = base_of(clock);
    return nanoseconds(&base);
}

static uint64_t still_time(void) {
    return base_in_nanoseconds(CLOCK_MONOTONIC) + rl_look_at_clock();
}

static uint64_t still_walltime(void) {
    return 0 - base_in_nanoseconds(CLOCK_REALTIME) - rl_look_at_clock();
}

/// Whether the code under test asks for the time, also while it sets up a scenario.
static bool shows_still_time(rl_place place) {
    if (rl_active && !rl_sees(RL_QUEUES, place)) return false;
    if (!rl_runs_scenario() || !rl_is_call_of_program(&place)) return false;
    rl_comes_to_clock(place);
    if (rl_on_lab_thread()) my_thread()->has_read_clock = true;
    rl_note_clock_read();
    return true;
}

/// The runtime of tasks computes when a sleep will end.
static bool is_for_sleep(rl_place place) {
    if (!rl_active || !rl_runs_scenario() || !reader_at(place.pc).is_of_tasks) return false;
    rl_comes_to_clock(rl_place_that_awaits(place));
    return true;
}

uint64_t dispatch_time(uint64_t when, int64_t delta) {
    const rl_place place = RL_CALLER;
    if (when == NOW && (is_for_sleep(place) || shows_still_time(place))) when = still_time();
    return REAL(dispatch_time)(when, delta);
}

uint64_t dispatch_walltime(const void *when, int64_t delta) {
    if (when || !shows_still_time(RL_CALLER)) return REAL(dispatch_walltime)(when, delta);
    return REAL(dispatch_time)(still_walltime(), delta);
}

// Wall-clock times are negative: Dispatch counts them down from 0.
bool rl_has_passed(uint64_t time) {
    if (time == NOW || !rl_runs_scenario()) return true;
    rl_note_clock_read();
    bool is_time_of_day = (int64_t)time < 0;
    return is_time_of_day ? (int64_t)time >= (int64_t)still_walltime() : time <= still_time();
}

uint64_t rl_model_moment(clockid_t clock, const struct timespec *moment) {
    if (moment->tv_sec > INT64_MAX / BILLION) return FOREVER;
    const uint64_t shown = nanoseconds(moment), base_of_clock = base_in_nanoseconds(clock);
    return shown > base_of_clock ? shown - base_of_clock : 0;
}

uint64_t rl_model_time(uint64_t time) {
    if (time == FOREVER) return time;
    const bool is_time_of_day = time >> 62 == 3, counts_sleep = time >> 62 == 2;
    const clockid_t clock = is_time_of_day ? CLOCK_REALTIME
                            : counts_sleep ? CLOCK_BOOTTIME
                                           : CLOCK_MONOTONIC;
    const uint64_t shown = is_time_of_day ? 0 - time : time & ~(3ull << 62);
    const uint64_t base_of_clock = base_in_nanoseconds(clock);
    return shown > base_of_clock ? shown - base_of_clock : 0;
}

uint64_t rl_real_time(uint64_t time) {
    if (!really_waits() || time == FOREVER) return time;
    if (rl_has_passed(time)) return NOW;
    const bool is_time_of_day = (int64_t)time < 0;
    const uint64_t rest = is_time_of_day ? still_walltime() - time : time - still_time();
    return REAL(dispatch_time)(NOW, (int64_t)rest);
}

#endif
