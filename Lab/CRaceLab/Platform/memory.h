// The memory that the lab itself allocates.

#pragma once

#include "Platform/build.h"

#include <stddef.h>
#include <stdlib.h>

// The lab's memory bypasses the `free` of heap.c.
#if defined(__GLIBC__)
extern void __libc_free(void *memory);
#define discard(memory) __libc_free(memory)
#else
#define discard(memory) free(memory)
#endif

/// Returns zeroed memory. Without memory the lab cannot continue, so a failure ends the process
/// with a message that names `what`.
void *rl_allocate(size_t size, const char *what);
/// Returns room for `wanted` elements of this size, and moves the `used` elements of `old` there.
void *rl_grown(void *old, size_t used, size_t wanted, size_t size);

/// Makes room for one more element of a table.
#define MAKE_ROOM(items, count, capacity, at_first)                                  \
    do {                                                                             \
        if ((count) < (capacity)) break;                                             \
        (capacity) = (capacity) ? 2 * (capacity) : (at_first);                       \
        (items) = rl_grown((items), (count), (capacity), sizeof *(items));           \
    } while (0)
