// Releases that may as well not have happened yet.

#pragma once

#include "State/state.h"

/// The thread has released a lock at the end of its last step.
void rl_note_release(thread *t, lock *l, bool shared);
/// The releases of this lock have happened: a thread takes it, or has tried again and again.
void rl_is_released(const lock *l, bool for_reader);
/// All releases have happened: no thread can go on, not even to release something.
void rl_everything_is_released(void);
/// Whether the thread is about to attempt to take a lock that another one may be about to release;
/// if so, `*holder` is that other one.
bool rl_could_precede_release(const thread *t, int8_t *holder);
