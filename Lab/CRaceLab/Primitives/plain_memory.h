// Accesses to properties, captured variables and globals.

#pragma once

#include "Scheduler/operation.h"

extern const rl_operation rl_read, rl_modify;

/// In the first run, notes a change of memory that is older than the run. If the next run does
/// something else, that is the likely cause.
void rl_note_change(uintptr_t address, uintptr_t pc);
/// The runtime changes a variable for Swift code, such as a weak reference.
void rl_is_changed_by_runtime(void);
/// A library accesses memory for code that is compiled with `-sanitize=thread`.
void rl_accesses_memory(rl_kind kind, uintptr_t address, rl_place place);
