// What a step means for threads that sleep or spin until something is done.

#pragma once

#include "State/state.h"

/// Something was done at an address by a thread.
void rl_did(int by, uint8_t kind, uintptr_t address, bool changes);
/// The same for what the concurrency runtime does in a step, which has not announced it.
void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for);
