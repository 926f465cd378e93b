// Effects outside the scenario, which the lab cannot see: then there is no verdict.

#pragma once

#include "State/state.h"

/// The code under test causes effects outside the scenario, which the lab cannot see: there will be
/// no verdict. Where accesses are steps, this ends the run and does not return.
void rl_meet_outside(const char *what, rl_place place);
/// The same for a task that is started or resumed where the lab does not control tasks.
void rl_meet_task_outside(rl_place place);
/// For this reason, there will be no verdict unless something is found.
void rl_doubt(const char *what, rl_place place);

/// What code under test does with a lock or an atomic whose operations the lab does not see.
#define RL_LOCK_WITHOUT_CALLS \
    "uses a `Mutex` or an atomic in a target that is not compiled with -sanitize=thread"

/// On a lab thread: this run created the object, so no code outside the scenario has it.
void rl_made(const void *object);

/// A thread that is not a lab thread resumes a task.
void rl_foreign_thread_resumes(const void *task);

// MARK: - For the scheduler

/// Returns RL_OUTSIDE if code outside the scenario could enable one of the waiting threads,
/// otherwise RL_DEADLOCK.
rl_status rl_deadlock_or_outside(void);
