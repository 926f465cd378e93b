// What is known about each address in this run: shadow cells, locks and objects.

#pragma once

#include "State/state.h"

cell *rl_cell_at(uintptr_t address);
/// From now on nothing is known about the address of this record.
void rl_forget_cell(cell *c);

lock *rl_lock_at(uintptr_t address);
/// Returns NULL if the address has no such record in this run.
lock *rl_known_lock(uintptr_t address);
/// What is known about an object, for the caller to change.
object_record *rl_object_at(const void *object);
/// Calls `visit` with each lock of this run.
void rl_for_all_locks(void (*visit)(lock *l));
