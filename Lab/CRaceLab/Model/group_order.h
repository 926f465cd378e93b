// Whether the order in which threads enter and leave a group shows.

#pragma once

#include "State/state.h"

/// The calling thread enters a group, or leaves it.
void rl_enters_group(const lock *group);
void rl_leaves_group(lock *group);
/// It is about to wait until all have left, to ask whether they have, or to register what follows.
void rl_looks_at_group(const lock *group);
