// What one thread sends and another one receives.

#pragma once

#include "Scheduler/operation.h"

/// Sends one item to the address.
extern const rl_operation rl_send_work;
