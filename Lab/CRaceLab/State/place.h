// The place from which an entry point was called.

#pragma once

#include "Platform/build.h"

/// The return address in the code under test, and the top of the caller's stack.
typedef struct {
    uintptr_t pc;
    uintptr_t stack;
} rl_place;

#define RL_CALLER                                       \
    ((rl_place){(uintptr_t)__builtin_return_address(0), \
                (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *)})
