// What is known about each address in this run: shadow cells, locks and objects.

#pragma once

#include "State/state.h"

/// A table of records, one for each address. A record does not move when the table grows.
typedef struct {
    struct rl_slot *slots;
    size_t count, capacity;  // `capacity` is a power of 2
} rl_table;

/// The record of an address, for as long as the memory from `allocate` lasts. Sets `*is_new` if
/// nothing is known about the address. The record is then zero.
void *rl_record_at(rl_table *t, uintptr_t address, size_t size,
                   void *(*allocate)(size_t size, const char *what), bool *is_new);
/// The same; NULL if there is none.
void *rl_known_record(const rl_table *t, uintptr_t address);

cell *rl_cell_at(uintptr_t address);
/// From now on nothing is known about the address of this record.
void rl_forget_cell(cell *c);

lock *rl_lock_at(uintptr_t address);
/// Returns NULL if the address has no such record in this run.
lock *rl_known_lock(uintptr_t address);
/// What is known about an object, for the caller to change.
object_record *rl_object_at(const void *object);
/// Returns NULL if nothing is known about an object in this run.
object_record *rl_known_object(const void *object);
/// Calls `visit` with each lock of this run.
void rl_for_all_locks(void (*visit)(lock *l));
