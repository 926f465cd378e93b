// What the engine and the child processes in which it may run (child.c) say to one another.

#ifndef CHILD_H
#define CHILD_H

#include "CRaceLab.h"

#include <signal.h>
#include <sys/types.h>

/// Where this process writes down what it does; NULL unless it is a child that explores.
extern rl_recorder *rl_recording;

static inline void rl_record_phase(rl_phase phase, int thread) {
    if (!rl_recording) return;
    rl_recording->phase = phase;
    rl_recording->thread = thread;
}

static inline void rl_record_steps(uint32_t count) {
    if (rl_recording) rl_recording->step_count = count;
}

/// Prepares the calling thread to say where it was when it crashes. Nothing in other processes.
void rl_expect_crashes(void);

// child_watcher.c

/// What is seen of a child at one look.
typedef struct {
    pid_t child;
    const rl_recorder *recorder;
    uint64_t runs;
    uint32_t steps;
    unsigned long ticks;
    int64_t since;              // it has not got on
} rl_sight;

/// Whether all threads of a child have slept for three seconds, in which it has come no further. The
/// thread that watches wakes up now and then, and needs next to nothing for it.
bool rl_child_is_stuck(rl_sight *before);

// stack_overflow.c

/// Whether a bad access, as a signal handler received it, is a stack overflow.
bool rl_is_stack_overflow(const siginfo_t *info, const void *context);
uintptr_t rl_program_counter(const void *context);

// runs.c

/// Of a clock that is never set.
int64_t rl_milliseconds(void);

/// No exploration begins between these two.
void rl_hold_explorations(void);
void rl_release_explorations(void);

/// In a child process, which has none of its parent's threads but one: makes the engine new.
/// Steps are written to the recorder, in which there is room for so many.
void rl_begin_in_child(uint32_t room);

// workers.c

void rl_forget_workers(void);

#endif
