// The lab's own memory.

#include "Platform/memory.h"

#ifndef RL_WITHOUT_HOOKS

#include <string.h>

void *rl_grown(void *old, size_t used, size_t wanted, size_t size) {
    void *fresh = calloc(wanted, size);
    if (!fresh) abort();
    if (old) {
        memcpy(fresh, old, used * size);
        discard(old);
    }
    return fresh;
}

#endif
