// Locks with one owner.

#pragma once

#include "Scheduler/operation.h"

/// Taking a lock of any kind that one thread can have alone; and trying to.
extern const rl_operation rl_take_lock, rl_try_lock;

/// Takes the real mutex, after the engine has decided that this thread may. Returns the result of
/// the real function.
int rl_really_lock(pthread_mutex_t *mutex);
/// Whether no thread holds a mutex, including threads that are not part of the scenario.
bool rl_is_free(pthread_mutex_t *mutex);

/// Whether these are the operands with which `Mutex` of Swift takes or releases its lock, on a thread
/// of the scenario. If so, stores the value that the caller reports as the previous one in `*seen`.
/// Of the observing thread, only records what it does.
bool rl_is_mutex_exchange(volatile uint32_t *word, uint32_t expected, uint32_t desired,
                          uintptr_t pc, uint32_t *seen);
