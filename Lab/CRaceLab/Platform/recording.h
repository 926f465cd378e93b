// The data that an exploring child process records for its parent, which reads it after the child's
// end.

#pragma once

#include "Platform/build.h"

#include <signal.h>

/// NULL unless this process is an exploring child. Defined in end.c, which is below this file.
extern rl_recorder *rl_recording;

// The signals with which code under test crashes.
static const int rl_crashes[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV,
                                 SIGBUS, SIGFPE,  SIGSYS,  SIGPIPE};
enum { RL_CRASH_COUNT = sizeof rl_crashes / sizeof *rl_crashes };

static inline void rl_record_phase(rl_phase phase, int thread) {
    if (!rl_recording) return;
    rl_recording->phase = phase;
    rl_recording->thread = thread;
}

static inline void rl_record_steps(uint32_t count) {
    if (rl_recording) rl_recording->step_count = count;
}

/// From now on the process records where it crashes.
void rl_record_crashes(void);
/// If the calling thread crashes from now on in an exploring child process, it calls `leave`, which
/// jumps out of the code that crashes. NULL: a crash ends the process, as usual.
void rl_leave_at_crash(void (*leave)(void));
/// Prepares the calling thread to report a crash, even if its stack has overflowed.
void rl_expect_crashes(void);

/// Whether the bad access that a signal handler received is a stack overflow.
bool rl_is_stack_overflow(const siginfo_t *info, const void *context);
uintptr_t rl_program_counter(const void *context);
