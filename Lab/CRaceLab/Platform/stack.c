#include "Platform/stack.h"

#ifndef RL_WITHOUT_HOOKS

#include <string.h>

#define CLEAN(size)                                \
    volatile char room[size];                      \
    memset((char *)room, 0, sizeof room);          \
    __asm__ volatile("" ::"r"(room) : "memory")

__attribute__((noinline)) void rl_clean_stack(void) { CLEAN(2048); }
__attribute__((noinline)) void rl_clean_whole_stack(void) { CLEAN(16 * 1024); }

#endif
