// Jobs of tasks that have left the runtime and have not begun.

#pragma once

#include "State/state.h"

/// `thread`: the task that the job belongs to; NO_THREAD: it is an actor's job.
void rl_add_job(void *job, void (*work)(void *job), int thread);
/// Begins the next job that was sent. All sent jobs begin before the next decision. Returns false
/// if there are none.
bool rl_begin_next_job(void);
bool rl_has_next_job(void);
/// A run begins.
void rl_forget_jobs(void);
