// Accesses to properties, captured variables and globals.

#pragma once

#include "Scheduler/operation.h"

extern const rl_operation rl_read, rl_modify;

/// The runtime changes a variable for Swift code, such as a weak reference.
void rl_is_changed_by_runtime(void);
