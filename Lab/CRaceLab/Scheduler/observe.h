// Reads the state between two steps, and keeps track of objects.

#pragma once

#include "State/state.h"

/// Whether the calling thread is the observer, which reads the state. All other threads are
/// suspended.
extern _Thread_local bool rl_is_observing;

/// Ends the observation, because the observer would wait for a suspended thread, or has crashed.
/// Does not return.
void rl_observer_gives_up(void);
/// The observer accesses an address.
void rl_touch(const void *address);
/// The observer is about to take a lock. Does not return if a thread of the scenario holds the
/// lock, or if the observer holds too many.
void rl_observer_locks(void *address, void (*release)(void *lock));
void rl_observer_unlocks(const void *address);
/// Ends the observation after so many atomic operations that the observer must be waiting for a
/// suspended thread.
void rl_observer_uses_atomic(void);

/// Records a new object.
void rl_note_object(void *object, size_t size, const void *type, rl_place place);
/// Records that an object of this run has been freed.
void rl_forget_object(const void *memory);

// MARK: - For the scheduler

void rl_make_observation(void);
void rl_end_observation(void);
/// Records new objects from now on.
void rl_note_objects(void);
/// Returns the recorded objects, valid until the next run, and stops recording.
size_t rl_noted_objects(const rl_object **noted);
