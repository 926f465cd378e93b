// Accesses to memory that last, or that no check of exclusive access announces.

#pragma once

#include "State/state.h"

/// The calling thread has begun a checked access, or has ended one.
void rl_begin_access(const void *address, const void *buffer);
void rl_end_access(const void *buffer);
