// Distinguishes a stack overflow from other crashes.

#pragma once

#include "Platform/build.h"

#include <signal.h>

/// Whether the bad access that a signal handler received is a stack overflow.
bool rl_is_stack_overflow(const siginfo_t *info, const void *context);
uintptr_t rl_program_counter(const void *context);
