// Releases that other threads may not have observed yet.

#pragma once

#include "State/state.h"

/// Records that the thread released a lock at the end of its last step.
void rl_note_release(thread *t, lock *l, bool shared);
/// The releases of this lock have happened: a thread takes it, or has repeatedly tried to.
void rl_is_released(const lock *l, bool for_reader);
/// All releases have happened: no thread is enabled, so none is about to release a lock.
void rl_everything_is_released(void);
/// Whether the thread is about to try to take a lock that another thread may be about to release.
/// If so, stores that thread in `*holder`.
bool rl_could_precede_release(const thread *t, int8_t *holder);
/// The early attempt that this thread has just made depends on the next step of the holder, and on
/// each thread that takes a lock which the holder releases later.
void rl_misses_release(int by, int holder);
