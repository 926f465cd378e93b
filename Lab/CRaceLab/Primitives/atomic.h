// Atomic operations and fences.

#pragma once

#include "Scheduler/operation.h"

extern const rl_operation rl_atomic_load;

/// In place of a memory ordering, for a read by the Swift runtime that orders nothing.
enum { RL_UNORDERED = -1 };

/// A point before an atomic operation. `order` is its memory ordering (`__ATOMIC_…`).
void rl_atomic_point(const rl_operation *operation, const void *address, rl_place place, int order);
