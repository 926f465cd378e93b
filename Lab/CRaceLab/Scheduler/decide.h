// Which thread makes the next step.

#pragma once

#include "State/state.h"

/// Decides which thread makes the next step. NO_THREAD: the run is over; `lab.status` says why.
int rl_decide(void);
