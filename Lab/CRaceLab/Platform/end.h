// Ends the process when the lab cannot continue.

#pragma once

#include "Platform/build.h"

/// Writes one sentence to standard error and ends the process. Takes a format like `printf`.
/// Allocates no memory.
_Noreturn __attribute__((format(printf, 1, 2))) void rl_end_process(const char *sentence, ...);

/// Checks an assumption of the code that follows. The hooks exist in debug builds only, so the
/// check is always on.
#define RL_REQUIRE(condition, sentence)                                                       \
    do {                                                                                      \
        if (!(condition)) rl_end_process("RaceLab has a fault: %s (%s)", sentence, __func__); \
    } while (0)

/// Reports that the operating system could not start a thread. `error` is an `errno` number.
_Noreturn void rl_end_without_thread(int error);
