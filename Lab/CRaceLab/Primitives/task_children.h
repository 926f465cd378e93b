// The children of tasks, which the runtime cancels together with their parent or their group.

#pragma once

#include "State/state.h"

/// The address of the state that all tasks share: which have ended, and which are cancelled.
#define ALL_TASKS ((uintptr_t)&rl_all_tasks)
extern const char rl_all_tasks;

/// The current task has started this child.
void rl_has_child(int child);
/// Whether the current task has children that have not ended.
bool rl_has_children(void);
/// Records children that have been cancelled since the last call as an effect of the last step.
void rl_look_for_cancelled_children(void);
