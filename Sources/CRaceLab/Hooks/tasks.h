// Of Swift's concurrency runtime, what more than one file listens to.

#ifndef RACELAB_TASKS_H
#define RACELAB_TASKS_H

#include "Hooks/dispatch.h"

/// Whether a function belongs to the concurrency runtime.
bool rl_is_of_runtime(function work);

/// A job that the runtime sends to a queue, or with a delay. Returns false if it is no matter for the lab.
bool rl_job_passes(dispatch_object queue, void *job, function work, rl_place place);
bool rl_delayed_job_passes(uint64_t when, void *job, function work);

/// Whether a mutex is taken by the runtime for a task that the lab controls; and whether it is that of a
/// stream.
bool rl_is_lock_of_runtime(rl_place place);
bool rl_is_lock_of_stream(rl_place place);
/// Whether it is being found out what the runtime tells. Then it is about to take a lock.
bool rl_finds_out_about_lock(void *mutex, rl_place place);

#endif
