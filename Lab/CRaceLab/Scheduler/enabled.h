// Which threads are enabled.

#pragma once

#include "State/state.h"

/// Whether a thread can make its next step now.
bool rl_can_go(const thread *t);
