// Which steps depend on one another.

#pragma once

#include "State/state.h"

/// Whether a step of this kind changes nothing that another thread could tell.
bool rl_only_reads(uint8_t kind);
/// Whether a thread that has done this is not where it was, and cannot be spinning: a lock that is
/// taken and released again is no such thing, nor is an attempt that failed.
bool rl_is_lasting(uint8_t kind);
/// Whether it makes a difference which of two things is done first.
bool rl_are_dependent(uint8_t kind, uintptr_t address, uint8_t other, uintptr_t other_address);

/// What a step does to the reference count of an object, beside what its point announces.
enum { RL_COUNT = 200, RL_LOOK };

/// Whether a step that announces this may be in the way of what another one does in the concurrency runtime.
static inline bool rl_is_about_tasks(uint8_t kind) {
    return (kind >= RL_ARRIVE && kind <= RL_SUSPENDED) || kind == RL_START || kind == RL_SEND;
}

/// What a lock, a semaphore or a queue can be taken for.
enum { RL_FREE_FOR_ONE = 1, RL_FREE_FOR_READERS = 2, RL_COUNTED = 4, RL_EMPTY = 8 };
