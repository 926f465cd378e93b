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
    unsigned long ticks;
    int64_t since;  // the time of its last progress
} rl_sight;

/// Whether all threads of a child have slept for three seconds without progress. The child's own
/// watcher thread may wake up now and then; it uses almost no processor time.
bool rl_child_is_stuck(rl_sight *before);
