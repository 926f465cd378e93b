// The effect of a step on threads in the sleep set and on spinning threads.

#pragma once

#include "State/state.h"

#include <string.h>

/// Removes a thread from the sleep set. It may also read old values again that have been explored.
static inline void rl_wake(int thread) {
    lab.run.sleeping &= ~set_of(thread);
    lab.run.asleep_early &= ~set_of(thread);
    lab.run.slept[thread] = 0;
}

/// The same for all threads.
static inline void rl_wake_all(void) {
    lab.run.sleeping = lab.run.asleep_early = 0;
    memset(lab.run.slept, 0, sizeof lab.run.slept);
}

/// A thread has carried out an operation at an address.
void rl_did(int by, uint8_t kind, uintptr_t address, bool changes);
/// The same for a read that chooses between values. It wakes no thread: whatever sleeps could also
/// come first.
void rl_did_read(uint8_t kind, uintptr_t address, uint32_t store, uint64_t expected);
/// The same for a store with this number, which replaces a value with this hash.
void rl_did_store(int by, uintptr_t address, bool changes, uint32_t store, uint64_t replaced);
/// The same for what a thread has read or written since its last step, in an access that it began
/// before that step. It is not known whether it did.
void rl_did_within(const thread *t, const open_access *access, bool changes);
/// The address of the time.
#define RL_CLOCK ((uintptr_t)&lab.run.time)
/// The calling thread reads the clock, see `rl_read_clock`.
uint64_t rl_look_at_clock(void);
/// The calling thread sleeps: it lets time pass.
void rl_let_pass(uint64_t nanoseconds);
/// Time passes until a moment, if it has not come: a wait times out, or delayed work is sent. 0: none.
void rl_wait_until(uint64_t moment);
/// The same for an unannounced operation of the concurrency runtime within a step.
void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for);
