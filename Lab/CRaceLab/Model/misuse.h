// Incorrect uses of locks, semaphores, continuations and memory: outside the lab the program would
// trap, or its behavior would be undefined.

#pragma once

#include "State/state.h"

void rl_is_misused(rl_misuse_kind kind, rl_place place);
/// The same in two steps, with details that the caller adds.
rl_misuse rl_misuse_at(rl_misuse_kind kind, rl_place place);
void rl_add_misuse(rl_misuse misuse);
/// Memory is freed that has been freed already. Of each thread, that is reported once in a run.
void rl_frees_again(const void *memory, rl_place place);
/// Whether a thread of this run holds the lock, exclusively or as a reader.
bool rl_is_held(const void *lock);
/// Whether another thread holds the lock exclusively.
bool rl_is_held_elsewhere(const void *lock);
