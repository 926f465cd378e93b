// Explorations in a child process: the interface between child.c and child_watcher.c.

#pragma once

#include "Platform/build.h"

#include <sys/types.h>

/// A snapshot of a child's progress.
typedef struct {
    pid_t child;
    const rl_recorder *recorder;
    uint64_t runs;
    uint32_t steps;
    unsigned long user, kernel;                  // its processor time, in clock ticks
    unsigned long user_at_step, kernel_at_step;  // the same, at its last step
    int looks_asleep;  // since its last progress: how often all of its threads were asleep
} rl_sight;

/// Called every quarter of a second. Returns whether a child is stuck: all of its threads were
/// asleep in twelve calls since its last progress, or it has spent five seconds, and most of its
/// time, in the kernel since its last step. The child's own watcher thread wakes up now and then:
/// such a call is not counted, and the little processor time that it takes is no progress.
bool rl_child_is_stuck(rl_sight *before);
