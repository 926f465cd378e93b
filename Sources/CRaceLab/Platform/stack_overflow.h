// Tells a stack overflow from any other crash.

#pragma once

#include "Platform/build.h"

#include <signal.h>

/// Whether a bad access, as a signal handler received it, is a stack overflow.
bool rl_is_stack_overflow(const siginfo_t *info, const void *context);
uintptr_t rl_program_counter(const void *context);
