// Locks, semaphores and continuations that are used in a way that their documentation forbids.

#pragma once

#include "State/state.h"

void rl_is_misused(rl_misuse_kind kind, rl_place place);
void rl_forget_misuses(void);
/// A semaphore was made with a count, or is about to be freed.
void rl_made_semaphore(const void *semaphore, int64_t count);
void rl_frees_semaphore(const void *semaphore, rl_place place);
/// Whether a thread of this run holds a lock, be it as a reader.
bool rl_is_held(const void *lock);
/// Whether it is held for writing, and by another thread than this one.
bool rl_is_held_elsewhere(const void *lock);
