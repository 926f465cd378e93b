// The memory that the lab itself allocates.

#include "Platform/memory.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/end.h"

#include <string.h>

void *rl_allocate(size_t size, const char *what) {
    void *memory = calloc(1, size);
    if (!memory)
        rl_end_process("RaceLab is out of memory: it could not allocate %zu bytes for %s", size, what);
    return memory;
}

void *rl_grown(void *old, size_t used, size_t wanted, size_t size) {
    // If the product overflows, request more than there can be.
    void *fresh = rl_allocate(wanted > SIZE_MAX / size ? SIZE_MAX : wanted * size, "a table");
    if (old) {
        memcpy(fresh, old, used * size);
        discard(old);
    }
    return fresh;
}

#endif
