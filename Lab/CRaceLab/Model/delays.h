// Which of two delays ends first.

#pragma once

#include "State/state.h"

/// Begins a delay of the calling thread: it puts a task to sleep, or sends work that comes later.
/// `sleeper` is the thread that continues when the delay ends, at `time`.
void rl_begin_delay(thread *sleeper, uint64_t time);
/// Whether no other delay has to end first, as `is_woken` of the step with which the thread goes on.
bool rl_can_end_delay(const thread *sleeper);
/// The calling thread goes on after its delay.
void rl_end_delay(void);

/// Notes that the code under test reads the clock, or compares a time with it. From then on, the
/// order in which tasks fall asleep and wake up makes a difference.
void rl_note_clock_read(void);
