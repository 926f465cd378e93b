// Old values: where the memory orderings allow it, an atomic load reads a store although there is a
// newer one.
//
// The model is RC11 (Lahav, Vafeiadis, Kang, Hur and Dreyer, "Repairing Sequential Consistency in
// C/C++11", PLDI 2017), with the release sequences of C++20. The modification order of a variable
// is the order in which its stores are executed. So every execution of the model is reached in
// which program order, reads-from and modification order together have no cycle.

#pragma once

#include "State/state.h"

/// A store to an atomic variable.
typedef struct {
    atomic_value value;
    int8_t by;       // NO_THREAD: the value was there before
    uint32_t clock;  // of that thread
    uintptr_t pc;
    vector_clock released;
} store_record;

/// Called before the point of an atomic operation of the calling thread, on a variable that has
/// this value now.
void rl_meet_variable(const void *address, atomic_value now);
/// The next step of the calling thread reads a value. `order`: the memory ordering; of an exchange,
/// that of a failure. `expected`: the value with which the exchange succeeds; NULL: a load.
void rl_will_read(const void *address, int order, const atomic_value *expected);

/// Whether the next step of a thread can read this store (its number, from 1).
bool rl_may_read(int index, uint32_t store);
/// How many stores it can read, and the number of one of them.
uint32_t rl_count_readable(int index);
uint32_t rl_nth_readable(int index, uint32_t nth);
/// Decides what the next step of a thread reads: this store; 0: the newest one. Records that in the
/// step, and what it could read instead. Without effect if the step does not choose.
void rl_choose_store(int index, uint32_t store, rl_step *step);

/// The store with this number.
const store_record *rl_store(const void *address, uint32_t number);
/// The calling thread has read a store.
void rl_note_load(const void *address, uint32_t store, int order);
/// The calling thread stores a value at its present moment. Returns the number of the store.
uint32_t rl_note_store(const void *address, atomic_value value, int order,
                       const vector_clock *released);
/// Before, and after, a fence of the calling thread.
void rl_meet_fence(void);
void rl_note_fence(int order);
/// A thread has made another step, which may order its atomic operations.
void rl_note_other_step(int index);
