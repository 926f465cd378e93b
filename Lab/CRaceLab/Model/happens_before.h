// Happens-before with vector clocks, and the detection of data races.

#pragma once

#include "State/state.h"

/// Joins one half of two vector clocks; and both halves.
void rl_join_times(uint32_t *into, const uint32_t *other);
void rl_join_clock(vector_clock *into, const vector_clock *other);
/// Advances a thread's own clock.
void rl_advance(thread *t);
/// Advances a thread's own clock after a step that has published it.
void rl_tick(int index);
/// A plain access to memory by the calling thread.
typedef struct {
    uint8_t kind;  // RL_READ or RL_MODIFY
    uintptr_t address, pc;
    uint32_t step;  // in which the thread makes it
    bool is_part;   // of an access to more memory than one word, or from an earlier byte of it
} plain_access;

/// Checks an access for data races with earlier accesses.
void rl_check_access(plain_access access);
/// The same for `size` bytes, also against accesses that begin elsewhere. Of a large copy, only the
/// beginning is checked. 0: the size is unknown; only accesses that begin at the same address count.
void rl_check_memory(plain_access access, size_t size);
/// An earlier access that conflicts with one, while nothing orders the two.
typedef struct {
    bool exists;
    uintptr_t pc;     // its place
    bool is_partial;  // they may begin at different addresses
} rl_unordered;
/// Looks for such an access. Records no data race.
rl_unordered rl_find_unordered(plain_access access, size_t size);
/// The stack of thread `owner` contains the address. If another thread's stack contained it
/// before, forgets what is known about it.
void rl_is_on_stack_of(int owner, uintptr_t address);

/// A moment of a thread.
typedef struct {
    int8_t thread;
    uint32_t clock;
} rl_moment;

/// Whether a moment is known to the calling thread: it came before what the thread does now.
bool rl_knows(rl_moment moment);
/// The calling thread removes a reference to an object, but not the last one. That orders what it
/// has done so far before what follows `rl_has_last_reference(object)`: the runtime counts down
/// with release semantics, and a thread that finds itself to be the only owner acquires.
void rl_removes_reference(const void *object);
/// The calling thread runs the `deinit` of the object, or has been told that the only reference to
/// it is its own.
void rl_has_last_reference(const void *object);

/// Orders what the calling thread has done so far before what follows `rl_received(thing)`.
void rl_hand_down(const void *thing, uintptr_t pc);
/// Orders what threads did before they left the group before what follows `rl_received(thing)`.
void rl_pass_on(const void *thing, const void *group);
