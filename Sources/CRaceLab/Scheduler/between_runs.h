// What the scheduler asks of the hooks, which alone know what was sent to queues, and how retains and
// releases are replaced. These are the only calls that run from a lower folder to a higher one.

#pragma once

#include "Platform/build.h"

/// From now on retains and releases are noticed, or no longer. Returns whether they can be.
bool rl_listen_to_counts(bool on);

#if defined(__linux__)

/// What was sent to queues meanwhile is done before the lab goes on.
void rl_finish_work_between_runs(void);
/// What is left of it has been sent by something that did not come to its end.
void rl_forget_work_between_runs(void);

/// What was sent with a delay while a scenario was set up may be done at any time from now on. What
/// was sent so by a check is never done.
void rl_begin_delayed_work(void);
void rl_forget_delayed_work(void);

#else

// Dispatch is not controlled there: see rl_unavailable.
static inline void rl_finish_work_between_runs(void) {}
static inline void rl_forget_work_between_runs(void) {}
static inline void rl_begin_delayed_work(void) {}
static inline void rl_forget_delayed_work(void) {}

#endif
