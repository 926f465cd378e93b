// What is still to be explored.

#pragma once

#include "State/state.h"

branch *rl_given_schedule(void);
branch *rl_next_branch(void);
void rl_forget_branches(void);
/// Writes down, at every step that was not prescribed, who else could have gone.
void rl_add_branches(void);
