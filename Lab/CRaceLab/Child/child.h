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
    int looks_asleep;  // since its last progress: how often all of its threads were asleep
} rl_sight;

/// Looks at a child, every quarter of a second. Returns whether it makes no progress: since the last
/// one, all of its threads have been asleep in twelve looks. The child's own watcher thread wakes up
/// now and then, and a look that finds it awake is not counted. It uses almost no processor time.
bool rl_child_is_stuck(rl_sight *before);
