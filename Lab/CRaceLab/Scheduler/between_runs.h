// Services that the hooks provide to the scheduler: only they know what was sent to queues, and how
// to replace retains and releases. These are the only calls from a lower folder to a higher one.

#pragma once

#include "Platform/build.h"

/// Starts or stops observing retains and releases. Returns whether they can be observed.
bool rl_listen_to_counts(bool on);

#if defined(__linux__)

/// Runs the work that was sent to queues between two runs.
void rl_finish_work_between_runs(void);
/// Drops such work that is left over: its sender was abandoned.
void rl_forget_work_between_runs(void);

/// Work that the set-up sent with a delay may run at any time from now on. Such work of a judgment
/// is dropped.
void rl_begin_delayed_work(void);
void rl_forget_delayed_work(void);

#else

// The lab does not control Dispatch on other platforms: see rl_unavailable.
static inline void rl_finish_work_between_runs(void) {}
static inline void rl_forget_work_between_runs(void) {}
static inline void rl_begin_delayed_work(void) {}
static inline void rl_forget_delayed_work(void) {}

#endif
