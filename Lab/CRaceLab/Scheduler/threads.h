// The threads of a scenario.

#pragma once

#include "State/state.h"

/// Resets a thread, before it starts.
void rl_make_thread(int index);
/// Makes a thread that the current thread starts. Returns its number: the next one.
int rl_add_thread(void);
/// The next thread to start, while some have not been started.
int rl_next_to_start(void);
/// Calls `stepped` when the thread that made the step has reached its next point.
void rl_report_last_step(thread *t);
