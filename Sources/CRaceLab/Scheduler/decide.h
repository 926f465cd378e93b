// Which thread makes the next step.

#pragma once

#include "State/state.h"

bool rl_can_go(const thread *t);
/// Decides who makes the next step. NO_THREAD: the run is over, one way or another.
int rl_decide(void);
