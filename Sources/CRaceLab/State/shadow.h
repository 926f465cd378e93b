// What is known of each address in this run: shadow cells, and what threads wait for.

#pragma once

#include "State/state.h"

/// Nothing is known of any address in a new run.
void rl_forget_addresses(void);

cell *rl_cell_at(uintptr_t address);

lock *rl_lock_at(uintptr_t address);
/// NULL if nothing is known of it in this run.
lock *rl_known_lock(uintptr_t address);
/// Calls `visit` with each lock of this run.
void rl_for_all_locks(void (*visit)(const lock *l));
