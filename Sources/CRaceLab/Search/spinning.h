// Recognizes threads that spin.

#pragma once

#include "State/state.h"

/// This thread has allocated memory.
void rl_allocated(void *memory, size_t size);
/// This thread frees memory, or moves it elsewhere.
void rl_freed(const void *memory);

/// A thread has come to a point: finds out whether it spins.
void rl_look_for_spinning(thread *t, uintptr_t stack);
/// What a thread has looked at so far is of no interest for that.
void rl_forget_visits(thread *t);
/// Another thread has changed what is at an address. `is_lasting`: not only a lock was taken.
void rl_change_for(thread *t, uintptr_t address, bool is_lasting);
/// A thread has released a lock.
void rl_holds_fewer(thread *t);
/// Whether a thread that spins takes locks meanwhile, or attempts to.
bool rl_is_busy(const thread *t);
