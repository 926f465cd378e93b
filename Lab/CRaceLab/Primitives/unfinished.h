// Work that threads wait for.

#pragma once

#include "Scheduler/operation.h"

/// Waits until all units of work have finished; or checks whether they have.
extern const rl_operation rl_await_work, rl_try_to_await_work;

/// Whether the number of unfinished units is known in this run.
bool rl_is_counted(const void *group);
/// The number of units of work that a group waits for. It is set when the group is first used in a
/// run, and changed when it is entered or left.
void rl_count_unfinished(const void *group, int64_t count);
int64_t rl_unfinished(const void *group);

/// Work that another thread waits for, counted as one unfinished unit, has been done. Not a point:
/// only that wait depends on it.
void rl_finished(const void *work);
