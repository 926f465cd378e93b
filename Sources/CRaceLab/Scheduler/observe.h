// Reading the state between two steps, and which objects there are.

#pragma once

#include "State/state.h"

/// Whether this thread reads the state of the scenario. All others stand still.
extern _Thread_local bool rl_is_observing;

/// It accesses something.
void rl_touch(const void *address);
/// It is about to take a lock. Does not return if a thread of the scenario holds it.
void rl_observer_locks(void *address, void (*release)(void *lock));
void rl_observer_unlocks(const void *address);
/// Ends the observation if it has used so many atomics that it waits for a thread that stands still.
void rl_observer_uses_atomic(void);

/// An object has been made.
void rl_note_object(const void *object, size_t size, const void *type, rl_place place);
/// An object that was made in this run is no longer there.
void rl_forget_object(const void *memory);

// MARK: - For the scheduler

void rl_make_observation(void);
void rl_end_observation(void);
/// From now on, or no longer, notes which objects are made.
void rl_note_objects(bool whether);
/// Those noted so far, until the next run. No more are noted.
size_t rl_noted_objects(const rl_object **noted);
