// A monotonic clock.

#pragma once

#include "Platform/build.h"

#include <time.h>

static inline int64_t rl_milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000ll + now.tv_nsec / 1000000;
}
