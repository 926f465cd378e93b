// The interleavings that are still to be explored.

#pragma once

#include "State/state.h"

branch *rl_given_schedule(void);
branch *rl_next_branch(void);
void rl_forget_branches(void);
/// Adds a branch for each other choice at the steps that were not prescribed.
void rl_add_branches(void);
