// The memory that the lab itself allocates. It comes from an arena of its own, so that the
// addresses of the code under test do not depend on what the lab does.

#pragma once

#include "Platform/build.h"

/// Returns zeroed memory. Without memory the lab cannot continue, so a failure ends the process
/// with a message that names `what`.
void *rl_allocate(size_t size, const char *what);
/// Returns room for `wanted` elements of this size, and moves the `used` elements of `old` there.
void *rl_grown(void *old, size_t used, size_t wanted, size_t size);
/// Frees such memory, or NULL.
void rl_discard(void *memory);
/// Around each change of this memory, and of that for the code under test; and around a fork, so
/// that no other thread is in the middle of a change: the child has a copy.
void rl_lock_memory(void);
void rl_unlock_memory(void);

/// Returns memory that is not zeroed, for as long as the current run lasts.
void *rl_allocate_in_run(size_t size, const char *what);
/// Returns room in such memory for `wanted` elements of this size, and copies the `used` elements of
/// `old` there.
void *rl_grown_in_run(const void *old, size_t used, size_t wanted, size_t size);
/// Frees all such memory.
void rl_discard_memory_of_run(void);

/// Makes room for one more element of a table, in memory from the function `grown`.
#define MAKE_ROOM_IN(grown, items, count, capacity, at_first)             \
    do {                                                                  \
        if ((count) < (capacity)) break;                                  \
        (capacity) = (capacity) ? 2 * (capacity) : (at_first);            \
        (items) = (grown)((items), (count), (capacity), sizeof *(items)); \
    } while (0)
/// The table lasts as long as the current run; or as long as the process.
#define MAKE_ROOM(...) MAKE_ROOM_IN(rl_grown_in_run, __VA_ARGS__)
#define MAKE_LASTING_ROOM(...) MAKE_ROOM_IN(rl_grown, __VA_ARGS__)
