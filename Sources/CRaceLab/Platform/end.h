// Where the lab cannot go on.

#pragma once

#include "Platform/build.h"

/// Writes one sentence to standard error, and ends the process. A format as for `printf`; no memory is
/// needed.
_Noreturn __attribute__((format(printf, 1, 2))) void rl_end_process(const char *sentence, ...);

/// What the rest of a function relies on. The hooks exist in debug builds only, so this is always checked.
#define RL_REQUIRE(condition, sentence)                                                        \
    do {                                                                                       \
        if (!(condition)) rl_end_process("RaceLab has a fault: %s (%s)", sentence, __func__);  \
    } while (0)

/// The operating system refuses to start a thread; why, as a number of `errno`.
_Noreturn void rl_end_without_thread(int error);
