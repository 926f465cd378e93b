// Work that was sent to queues.

#pragma once

#include "Platform/build.h"

/// Runs one work item that was sent to a queue between two runs. Returns false if there is none
/// that can run now.
bool rl_do_waiting_work(void);
