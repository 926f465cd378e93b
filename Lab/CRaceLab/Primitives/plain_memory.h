// Accesses to properties, captured variables and globals.

#pragma once

#include "Scheduler/operation.h"

extern const rl_operation rl_read, rl_modify;

/// The thread whose stack contains the address, other than the calling one; or NO_THREAD.
int rl_owner_of_stack(uintptr_t address);
/// In the first run, notes a change of memory that is older than the run. If the next run does
/// something else, that is the likely cause.
void rl_note_change(uintptr_t address, uintptr_t pc);
/// The runtime changes a variable for Swift code, such as a weak reference.
void rl_is_changed_by_runtime(void);
/// A library accesses memory for code that is compiled with `-sanitize=thread`.
void rl_accesses_memory(rl_kind kind, uintptr_t address, rl_place place);

// MARK: - Accesses that no call of the runtime announces

/// Whether a thread's access to an address, at this place, is a step.
bool rl_is_known_unannounced(const thread *t, uintptr_t address, uintptr_t pc);
/// Whether such accesses may conflict with others that begin at a different address.
bool rl_is_partial(uintptr_t pc);

/// The calling thread accesses memory without an announcement; its size is 0 if that is not known.
/// If that conflicts with what another thread does, the exploration starts over, and both are steps.
/// `is_step`: accesses at this place are steps already, but the other one may be none yet.
void rl_meet_unannounced(rl_kind kind, extent memory, bool is_step, rl_place place);
/// It announces an access, which may conflict with one that was not announced.
void rl_meet_announced(rl_kind kind, uintptr_t address, rl_place place);

// MARK: - Variables that are passed by pointer

/// The calling thread has ended an access in which Swift code neither read nor wrote the variable,
/// nor passed it on as `inout`.
void rl_passed_by_pointer(uintptr_t pc);

/// The calling thread uses a variable as a lock, a condition or a semaphore, at this place. If an
/// access to the variable has begun in the same function, in one around it, or in an accessor for
/// it, it only passes the address, as `&mutex` does. Then the exploration starts over, and the
/// access is no step: it does what the lock does.
void rl_is_used_as_lock(const void *variable, rl_place place);
/// Whether the access that begins at this place only passes the address of a lock.
bool rl_only_passes_lock(const void *address, rl_place place);
