// The blocks of memory that the code under test allocates.

#pragma once

#include "State/state.h"

/// The part of a larger block that belongs to the state of a thread: its beginning.
enum { RL_MOST_BYTES = 1024 };

/// The calling thread has allocated memory: in a run, or while it sets up a scenario.
void rl_allocated(void *memory, size_t size);
void rl_allocated_in_set_up(void *memory, size_t size);

/// A task puts a frame onto its stack; or it removes a frame, and those above.
void rl_add_frame(thread *t, uintptr_t start, size_t size);
void rl_remove_frames(thread *t, uintptr_t start);
/// Whether an address is on the stack of a task.
bool rl_is_in_frame(const thread *t, uintptr_t address);

/// Returns the block of a thread that contains an address, or NULL.
block_of_memory *rl_block_with(const thread *t, uintptr_t address);
/// The same for all threads; `*owner` is the one that has allocated it.
block_of_memory *rl_block_of_any(uintptr_t address, int *owner);
/// The same if another thread has allocated it, and nothing orders that before now.
block_of_memory *rl_unordered_block(uintptr_t address);
/// Returns the block that contains an address and was allocated for this run; its size is 0 if
/// there is none.
extent rl_extent_with(uintptr_t address);
