// The dependence relation between steps.

#pragma once

#include "State/state.h"

/// Whether a step of this kind changes nothing that another thread can observe.
bool rl_only_reads(uint8_t kind);
/// Whether such a step is progress, so that the thread cannot be spinning. Taking and releasing a
/// lock is not progress, nor is an attempt that failed.
bool rl_is_lasting(uint8_t kind);
/// Whether the order of two operations matters.
bool rl_are_dependent(uint8_t kind, uintptr_t address, uint8_t other, uintptr_t other_address);

/// Effects of a step on the reference count of an object, in addition to what its point announces.
enum { RL_COUNT = 200, RL_LOOK };

/// Whether a step that announces this may depend on what another step does in the concurrency
/// runtime.
static inline bool rl_is_about_tasks(uint8_t kind) {
    return (kind >= RL_ARRIVE && kind <= RL_SUSPENDED) || kind == RL_START || kind == RL_SEND;
}

/// How a lock, a semaphore or a queue is available.
enum { RL_FREE_FOR_ONE = 1, RL_FREE_FOR_READERS = 2, RL_COUNTED = 4, RL_EMPTY = 8 };
