// Which of two delays ends first.

#pragma once

#include "State/state.h"

/// A delay begins: a task falls asleep, or the calling thread sends work that comes later. When it
/// ends, at this time of the clock, this thread goes on.
void rl_begin_delay(thread *sleeper, uint64_t time);
/// Whether no other delay has to end first, as `is_woken` of the step with which the thread goes on.
bool rl_can_end_delay(const thread *sleeper);
/// The calling thread goes on after its delay.
void rl_end_delay(void);

/// The code under test reads the clock. So the order in which tasks fall asleep and wake up makes a
/// difference.
void rl_reads_clock(void);
