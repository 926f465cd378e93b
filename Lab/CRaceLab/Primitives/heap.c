// The functions that allocate and free memory.

#include "Scheduler/observe.h"
#include "Scheduler/points.h"
#include "State/blocks.h"
#include "State/state.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__GLIBC__)

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

extern void __libc_free(void *memory);
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
    void *memory = __libc_malloc(size);
    if (rl_active)
        rl_allocated(memory, size);
    else if (rl_is_between_runs_here() && lab.is_setting_up)
        rl_allocated_in_set_up(memory, size);
    return memory;
}

void *realloc(void *memory, size_t size) {
    if (!rl_is_of_lab() || !memory) return __libc_realloc(memory, size);
    // The old block is kept like any other that is freed.
    void *fresh = size > 0 ? malloc(size) : NULL;
    const size_t old_size = malloc_usable_size(memory);
    if (fresh) memcpy(fresh, memory, old_size < size ? old_size : size);
    if (fresh || size == 0) free(memory);
    return fresh;
}

void free(void *memory) {
    if (!memory || rl_keep(memory, RL_CALLER)) return;
    rl_forget_object(memory);
    __libc_free(memory);
}

#endif
