// Accesses to properties, captured variables and globals.

#pragma once

#include "Scheduler/operation.h"

extern const rl_operation rl_read, rl_modify;
