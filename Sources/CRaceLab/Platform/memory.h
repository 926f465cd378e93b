// The lab's own memory.

#pragma once

#include "Platform/build.h"

#include <stddef.h>
#include <stdlib.h>

// It never goes through the `free` of hook_accesses.c.
#if defined(__GLIBC__)
extern void __libc_free(void *memory);
#define discard(memory) __libc_free(memory)
#else
#define discard(memory) free(memory)
#endif

/// Memory that is 0. Without enough of it the process ends, with a sentence that says for what: there is
/// nothing that the lab could do without it.
void *rl_allocate(size_t size, const char *what);
/// Room for `wanted` elements of this size, of which `used` are those of `old`.
void *rl_grown(void *old, size_t used, size_t wanted, size_t size);

/// Makes room for one more element of a table.
#define MAKE_ROOM(items, count, capacity, at_first)                                  \
    do {                                                                             \
        if ((count) < (capacity)) break;                                             \
        (capacity) = (capacity) ? 2 * (capacity) : (at_first);                       \
        (items) = rl_grown((items), (count), (capacity), sizeof *(items));           \
    } while (0)
