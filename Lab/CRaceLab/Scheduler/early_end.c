// The code under test ends the process: by a call such as `exit`, or by a crash. Otherwise a run of
// tests would end there, perhaps with the status of a success, and nothing would say why.
//
// A thread that crashes can do little: it may hold any lock. So the watcher, which looks every 50
// ms, reports the crash. The thread waits for that for a limited time, and then the crash takes its
// course.

#include "Scheduler/early_end.h"

#include "Platform/recording.h"
#include "Scheduler/runs.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pid_t explored_in;

bool rl_would_end_exploration(void) { return me && !rl_recording && getpid() == explored_in; }

static void report(rl_end *end) {
    if (me && me->fate != STAYS) {
        fprintf(stderr, "RaceLab: a thread of an earlier exploration calls %s(%d)\n", end->call,
                end->status);
        return;
    }
    if (!rl_exploration.scenario->ends) return;
    rl_run run = {0};
    rl_fill_in(&run);
    end->is_in_set_up = lab.run.is_setting_up;
    rl_exploration.scenario->ends(rl_exploration.scenario->context, &run, end);
}

_Noreturn void rl_end_early(const char *call, int status, rl_place place) {
    rl_ignore();
    rl_end end = {.call = call, .status = status, .pc = place.pc, .thread = me->thread};
    report(&end);
    fflush(NULL);
    explored_in = 0;
    _exit(RL_STATUS_OF_EARLY_END);
}

// MARK: - Crashes

static struct sigaction before[RL_CRASH_COUNT];
static rl_end crash;
enum { NO_CRASH, HAS_CRASHED, IS_REPORTED };
static _Atomic int state;

/// Whether the program has a handler, perhaps to survive the signal. Not that of the Swift runtime.
static bool is_handled_by_program(const struct sigaction *action) {
    if (!(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL) return false;
    Dl_info info;
    const bool is_known = dladdr((void *)action->sa_handler, &info) && info.dli_fname;
    return !is_known || !strstr(info.dli_fname, "libswiftCore");
}

static void wait_for_report(void) {
    const struct timespec moment = {0, 10 * 1000 * 1000};
    for (int i = 0; i < 1000 && atomic_load(&state) != IS_REPORTED; i++) rl_nap(&moment);
}

/// Waits for the report. Then the signal comes again, with the program's action for it.
static void on_crash(int number, siginfo_t *info, void *context) {
    size_t which = 0;
    while (which + 1 < RL_CRASH_COUNT && rl_crashes[which] != number) which++;
    int none = NO_CRASH;
    if (me && me->fate == STAYS && !is_handled_by_program(&before[which]) &&
        atomic_compare_exchange_strong(&state, &none, HAS_CRASHED)) {
        crash = (rl_end){.status = number, .pc = rl_program_counter(context), .thread = me->thread};
        crash.overflow = rl_is_stack_overflow(info, context);
        crash.frame_count = (uint32_t)backtrace((void **)crash.frames, RL_MAX_FRAMES);
        wait_for_report();
    }
    sigaction(number, &before[which], NULL);
    // An instruction that has failed fails again.
    if (info->si_code <= 0) raise(number);
}

void rl_report_crash_if_any(void) {
    if (atomic_load(&state) != HAS_CRASHED) return;
    report(&crash);
    atomic_store(&state, IS_REPORTED);
    for (;;) pause();
}

void rl_begin_reporting_crashes(void) {
    explored_in = getpid();
    if (rl_recording) return;
    atomic_store(&state, NO_CRASH);
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < RL_CRASH_COUNT; i++) sigaction(rl_crashes[i], &action, &before[i]);
}

void rl_end_reporting_crashes(void) {
    if (rl_recording) return;
    for (size_t i = 0; i < RL_CRASH_COUNT; i++) {
        struct sigaction now;
        sigaction(rl_crashes[i], &before[i], &now);
        const bool is_ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_crash;
        if (!is_ours) sigaction(rl_crashes[i], &now, NULL);
    }
}
