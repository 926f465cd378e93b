// Explorations in a child process: what child.c asks child_watcher.c.

#pragma once

#include "Platform/build.h"

#include <sys/types.h>

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
