// What is ordered and what is not: vector clocks.

#pragma once

#include "State/state.h"

void rl_join_clock(vector_clock *into, const vector_clock *other);
/// Begins a new moment of a thread.
void rl_advance(thread *t);
/// Makes what a thread does from now on later than what it has just told others in a step.
void rl_tick(int index);
/// What an atomic operation of this memory ordering reads and writes. A write that is part of a
/// read-modify-write continues the release sequences that it finds.
void rl_read_atomic(thread *t, int order);
void rl_write_atomic(thread *t, int order, bool is_read_modify_write);
/// A fence. No point: only this thread's own atomic operations can tell.
void rl_fence(int order);
/// Checks an access that is neither atomic nor a lock against those before it.
void rl_check_access(int index, thread *t, uint32_t step);

/// A moment in the life of a thread.
typedef struct {
    int8_t thread;
    uint32_t clock;
} rl_moment;

/// Whether a moment happened before what this thread does now.
bool rl_knows(rl_moment moment);

/// What this thread has done so far happens before what is done after `rl_received(thing)`.
void rl_hand_down(const void *thing, uintptr_t pc);
/// What was done before those left the group that have left it happens before what is done after
/// `rl_received(thing)`.
void rl_pass_on(const void *thing, const void *group);
