// Detects spinning threads.

#pragma once

#include "State/state.h"

/// The calling thread has allocated memory: in a run, or while it sets up a scenario.
void rl_allocated(void *memory, size_t size);
void rl_allocated_in_set_up(void *memory, size_t size);
/// Whether the thread has allocated the memory at an address during the run.
bool rl_has_allocated(const thread *t, uintptr_t address);
/// Whether two addresses are in one block that was allocated for this run.
bool rl_are_in_one_block(uintptr_t first, uintptr_t second);
/// The calling thread frees memory, or moves it.
void rl_freed(const void *memory);

/// Called when a thread reaches a point: finds out whether it spins.
void rl_look_for_spinning(thread *t, uintptr_t stack);
/// Whether after such a step the thread cannot be spinning.
bool rl_is_progress(const thread *t, uint8_t kind);
/// Forgets the visits of a thread, so that it does not count as spinning.
void rl_forget_visits(thread *t);
/// The thread has missed the release of a lock, which counts as a change of the lock.
void rl_has_missed_release(thread *t);
/// Another thread has changed the value at an address. `is_lasting`: it did more than take a lock.
void rl_change_for(thread *t, uintptr_t address, bool is_lasting);
/// The thread has released a lock.
void rl_holds_fewer(thread *t);
/// Whether a spinning thread takes locks meanwhile, or attempts to.
bool rl_is_busy(const thread *t);
/// Whether a spinning thread reads a global, which other code may change.
bool rl_spins_on_global(const thread *t);
