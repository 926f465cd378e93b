// An exploration: one run after another.

#include "Scheduler/scheduler.h"

#include "Platform/clock.h"
#include "Platform/memory.h"
#include "Platform/program_heap.h"
#include "Platform/recording.h"
#include "Scheduler/early_end.h"

#include <execinfo.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#if defined(__APPLE__)
#define NESTABLE PTHREAD_RECURSIVE_MUTEX_INITIALIZER
#else
#define NESTABLE PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#endif

static pthread_mutex_t one_at_a_time = NESTABLE;
static bool made;
/// How often a thread holds explorations, and whether the process is prepared for them.
static int held;
static bool is_prepared;

void rl_begin_in_child(uint32_t room) {
    RL_REQUIRE(rl_recording, "this process has no recorder");
    one_at_a_time = (pthread_mutex_t)NESTABLE;
    made = is_prepared = false;
    held = 0;
    lab.idle = lab.spare = lab.running = NULL;
    lab.steps = rl_recording->steps;
    lab.fingerprints = rl_grown(NULL, 0, room, sizeof *lab.fingerprints);
    lab.step_capacity = room;
}

#if defined(__linux__)

static cpu_set_t processors;

/// Keeps the watching thread on the processor of the other threads: waking threads across
/// processors takes longer than many explorations.
static void stay_on_this_processor(void) {
    sched_getaffinity(0, sizeof processors, &processors);
    lab.processor = sched_getcpu();
    if (CPU_COUNT(&processors) < 2) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(lab.processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void leave_this_processor(void) {
    if (CPU_COUNT(&processors) > 1) sched_setaffinity(0, sizeof processors, &processors);
}

#else

static void stay_on_this_processor(void) {}
static void leave_this_processor(void) {}

#endif

// A thread of the lab holds nothing: an exploration within another one is refused, see
// `rl_unavailable`.

void rl_hold_explorations(void) {
    if (me) return;
    pthread_mutex_lock(&one_at_a_time);
    held++;
}

void rl_release_explorations(void) {
    if (me) return;
    if (--held == 0 && is_prepared) {
        is_prepared = false;
        rl_end_reporting_crashes();
        leave_this_processor();
    }
    pthread_mutex_unlock(&one_at_a_time);
}

/// Many small explorations take less time if this is done once for all of them.
static void prepare_process(void) {
    if (is_prepared) return;
    is_prepared = true;
    stay_on_this_processor();
    rl_begin_reporting_crashes();
}

rl_summary rl_explore(const rl_scenario *scenario) {
    rl_hold_explorations();
    if (!made) {
        made = true;
        rl_parker_make(&lab.done);
        rl_parker_make(&lab.gone);
        // The first call loads a library, which a signal handler must not do.
        void *frame;
        backtrace(&frame, 1);
    }
    const int64_t now = rl_milliseconds();
    rl_exploration = (struct exploration){.scenario = scenario,
                                          .summary = {.matters = scenario->matters},
                                          .began = now,
                                          .reported = now};
    lab.work = rl_work;
    prepare_process();
    rl_reuse_what_others_freed();
    atomic_store(&lab.progress, 0);
    rl_assign(ENGINE);
    rl_watch();
    rl_summary summary = rl_exploration.summary;
    rl_release_explorations();
    return summary;
}

const char *rl_unavailable(void) {
#if defined(RL_UNDER_THREAD_SANITIZER)
    return "this build runs under ThreadSanitizer, which defines the functions that the lab would "
           "define: build without --sanitize=thread";
#elif defined(RL_WITHOUT_HOOKS)
    return "the lab needs a debug build";
#endif
    // An exploration inside another one would wait for itself.
    if (me)
        return "one exploration within another is not possible: explore and replay are to be "
               "called outside of a scenario";
#if defined(__APPLE__)
    // On macOS the lab cannot intercept the locks of Foundation, Dispatch, threads and tasks: a
    // free lock is taken without a call. So no verdict can be trusted, unless the user declares
    // that the code under test uses none of them.
    if (!getenv("RACELAB_CLOSED"))
        return "on macOS the lab cannot notice locks of Foundation, Dispatch, threads and tasks, "
               "so it gives no verdict there: use a Linux container, or set RACELAB_CLOSED=1 if "
               "the code under test uses nothing but properties, Mutex and Atomic";
#endif
    return NULL;
}
