// Looks from outside whether the running thread still gets on.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "laboratory.h"

#ifndef RL_UNDER_THREAD_SANITIZER

#include <execinfo.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#if defined(__APPLE__)
#include <mach/mach.h>
#endif

/// Whether a thread sleeps, and how often it has been switched away from so far.
static bool sleeps(const worker *w, uint64_t *switches) {
#if defined(__linux__)
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/self/task/%u/status", w->number);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool asleep = false;
    unsigned long voluntary = 0, other = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "State:", 6) == 0) asleep = strpbrk(line + 6, "SD") != NULL;
        sscanf(line, "voluntary_ctxt_switches: %lu", &voluntary);
        sscanf(line, "nonvoluntary_ctxt_switches: %lu", &other);
    }
    fclose(file);
    *switches = voluntary + other;
    return asleep;
#elif defined(__APPLE__)
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    kern_return_t result = thread_info(pthread_mach_thread_np(w->pthread), THREAD_BASIC_INFO,
                                       (thread_info_t)&info, &count);
    *switches = (uint64_t)info.user_time.seconds * 1000000 + (uint64_t)info.user_time.microseconds;
    return result == KERN_SUCCESS && info.run_state == TH_STATE_WAITING;
#endif
}

static uintptr_t seen_frames[RL_MAX_FRAMES];
static _Atomic int seen_frame_count;

static void look_around(int number) {
    (void)number;
    void *frames[RL_MAX_FRAMES];
    int count = backtrace(frames, RL_MAX_FRAMES);
    for (int i = 0; i < count; i++) seen_frames[i] = (uintptr_t)frames[i];
    atomic_store(&seen_frame_count, count);
}

/// Asks a thread where it is.
static uint32_t frames_of(worker *w) {
    struct sigaction action = {0}, before;
    action.sa_handler = look_around;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, &before);
    atomic_store(&seen_frame_count, -1);
    pthread_kill(w->pthread, SIGURG);
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 1000 && atomic_load(&seen_frame_count) < 0; i++) nanosleep(&moment, NULL);
    sigaction(SIGURG, &before, NULL);
    int count = atomic_load(&seen_frame_count);
    return count < 0 ? 0 : (uint32_t)count;
}

/// Ends an exploration whose running thread will not hand over any more.
static void stop(rl_status status) {
    worker *lost = lab.running;
    lab.status = lab.summary.status = status;
    lab.summary.runs++;
    rl_run run = {0};
    rl_fill_in(&run);
    run.blocked_thread = lost->thread;
    run.frame_count = frames_of(lost);
    memcpy(run.frames, seen_frames, sizeof run.frames);
    lost->fate = IS_LOST;
    rl_dismiss_the_rest();
#if defined(__linux__)
    // If it runs on for ever it shall do so only when nobody else wants the processor.
    struct sched_param parameter = {0};
    sched_setscheduler((pid_t)lost->number, SCHED_IDLE, &parameter);
#endif
    lab.scenario->finished(lab.scenario->context, &run);
    // What was kept may still be in use by the thread that is lost.
    lab.kept_count = 0;
    if (lab.current) discard(lab.current);
    lab.current = NULL;
}

/// Looks at the running thread now and then. One that sleeps elsewhere than at a gate, without
/// having been scheduled for a second, waits for something that will not come: all the others
/// that could bring it stand at their gates.
void rl_watch(void) {
    const struct timespec interval = {0, 50 * 1000 * 1000};
    const int asleep_long_enough = 20, silent_long_enough = 400;
    uint64_t progress = 0, switches = 0;
    int asleep = 0, silent = 0;
    while (!rl_gate_wait(&lab.done, &interval)) {
        uint64_t now = atomic_load(&lab.progress), switches_now = 0;
        if (now != progress) {
            progress = now;
            asleep = silent = 0;
            continue;
        }
        silent++;
        bool still = sleeps(lab.running, &switches_now) && switches_now == switches;
        switches = switches_now;
        asleep = still ? asleep + 1 : 0;
        if (asleep >= asleep_long_enough) return stop(RL_BLOCKED);
        if (silent >= silent_long_enough) return stop(RL_SILENT);
    }
}

#endif
