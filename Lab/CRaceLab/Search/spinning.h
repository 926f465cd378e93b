// Detects spinning threads.

#pragma once

#include "State/state.h"

/// Called when a thread reaches a point: finds out whether it spins. `registers`: see
/// `rl_state_now`.
void rl_look_for_spinning(thread *t, uintptr_t stack, const uint64_t *registers);
/// Whether after such a step the thread cannot be spinning.
bool rl_is_progress(const thread *t, uint8_t kind);
/// Forgets the visits of a thread, so that it does not count as spinning.
void rl_forget_visits(thread *t);
/// Lets a thread run its whole loop once, wherever in the loop it starts.
void rl_runs_its_loop_again(thread *t);
/// An attempt of a thread has failed, or a wait has timed out. For a thread that takes that lock in
/// a loop this is a lasting change: its next round may cause another failure. Not if the attempting
/// thread was here before in the same state: then it only repeats itself.
void rl_attempt_fails(const thread *attempting);
/// The thread has missed the release of a lock, which counts as a change of the lock.
void rl_has_missed_release(thread *t);
/// Another thread has changed the value at an address. `is_lasting`: not only by taking or
/// releasing a lock.
void rl_change_for(thread *t, uintptr_t address, bool is_lasting);
/// The thread has released a lock.
void rl_holds_fewer(thread *t);
/// Whether a spinning thread takes locks meanwhile, or attempts to.
bool rl_is_busy(const thread *t);
/// Whether a spinning thread reads a global, which other code may change.
bool rl_spins_on_global(const thread *t);
