// Dependences between steps through reference counts.

#pragma once

#include "Search/dependence.h"
#include "State/state.h"

void rl_begin_release(rl_release_in_progress *this, const void *object);
void rl_end_release(const rl_release_in_progress *this);

int64_t rl_references_to(const void *object);
/// The calling thread is about to change, or has changed, the reference count of an object.
void rl_counts(const void *object, int change);
void rl_has_counted(const void *object, int change);
/// The code under test can observe when the object ends.
void rl_is_observed(const void *object);
/// A weak reference is set to an object, or to the target of another weak reference.
void rl_refers_weakly(const void *reference, const void *object);
void rl_copies_weak_reference(const void *to, const void *from);
/// The calling thread checks whether the target of a weak reference still exists.
void rl_looks_for(const void *reference);
/// What the calling thread does next depends on whether an object exists, or is uniquely
/// referenced.
void rl_looks_at_object(const void *object);
void rl_asks_for_uniqueness(const void *object);

// MARK: - For the search

/// Whether steps at this place may depend on reference counts.
bool rl_counts_at(uintptr_t pc);
/// Whether a step at this place may depend on a step that changes or reads the count of an object.
bool rl_depends_on_count(uintptr_t pc, uint8_t kind, uintptr_t object);

void rl_begin_counts_of_run(void);
/// Forgets what is known about the code under test.
void rl_forget_counts(void);
/// Removes the counts of the steps from this one on.
void rl_forget_counts_from(uint32_t step);
/// Analyzes the completed run. Returns whether it has shown something new.
bool rl_learn_counts(void);
/// Returns the next effect that the steps of that run had on counts, in the order of the steps.
/// `*next` starts at 0. Returns false if there are no more.
bool rl_next_count_effect(size_t *next, uint32_t *step, uint8_t *kind, uintptr_t *object);
