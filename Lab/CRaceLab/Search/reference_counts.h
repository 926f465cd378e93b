// Dependences between steps through reference counts.

#pragma once

#include "State/state.h"

void rl_begin_release(rl_release_in_progress *this, const void *object);
void rl_end_release(const rl_release_in_progress *this);

int64_t rl_references_to(const void *object);
/// The calling thread is about to change the reference count of an object; `is_done`: or has done so.
void rl_counts(const void *object, int change, bool is_done);
/// The code under test can observe when the object ends.
void rl_is_observed(const void *object);

/// Notes that the last step has found the last `n` references to an object. It is called before the
/// point at which they are released: with more references, there would be no such point.
void rl_finds_last_reference(const void *object, uint32_t n);
/// At this place, a weak reference is set to an object, or to the target of another weak reference.
void rl_refers_weakly(const void *reference, const void *object, rl_place place);
void rl_copies_weak_reference(const void *to, const void *from);
/// The calling thread checks whether the target of a weak reference still exists.
void rl_looks_for(const void *reference);
/// What the calling thread does next depends on whether an object exists, or is uniquely
/// referenced.
void rl_looks_at_object(const void *object);
void rl_asks_for_uniqueness(const void *object);

// MARK: - For the search

/// Removes the counts of the steps from this one on.
void rl_forget_counts_from(uint32_t step);
/// Where the run has observed an object, so that reference counts matter; 0: nowhere.
uintptr_t rl_place_that_observes(void);
/// Adds the counts of the run that has just ended to its record.
void rl_add_counts(rl_execution *run);
