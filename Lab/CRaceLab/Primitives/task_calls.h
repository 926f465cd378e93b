// Declarations for Swift's concurrency runtime that several hook files share.

#pragma once

#include "Primitives/dispatch.h"

/// Intercepts a job that the runtime sends to a queue, or with a delay. Returns false if the real
/// function must send it.
bool rl_job_passes(dispatch_object queue, void *job, function work, rl_place place);
bool rl_delayed_job_passes(uint64_t when, void *job, function work);

/// Whether the runtime takes a mutex at this place for a task that the lab controls; and whether
/// the mutex is that of a stream.
bool rl_is_lock_of_runtime(rl_place place);
bool rl_is_lock_of_stream(rl_place place);
/// Whether the lab is learning the runtime's addresses. If so, records that it takes this lock.
bool rl_finds_out_about_lock(void *mutex, rl_place place);

/// The functions that cancellation.c replaces; the last one is NULL.
extern const char *const rl_symbols_of_cancellation[];
