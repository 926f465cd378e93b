// Semaphores: a count that a thread waits for and decrements.

#pragma once

#include "Scheduler/operation.h"

/// Decrements the count, as soon as it is positive; decrements it if it is positive; increments it.
extern const rl_operation rl_acquire, rl_try_to_acquire, rl_signal;

/// Whether the count is known in this run; and sets it. `change` adds to that of the real semaphore,
/// to which the engine gives its own count after a completed run.
bool rl_knows_count(const void *semaphore);
void rl_set_count(const void *semaphore, int64_t count, void (*change)(void *, int64_t by));
