// For what threads wait: locks, semaphores, conditions, groups, queues and the end of other threads.

#pragma once

#include "Model/happens_before.h"
#include "State/state.h"

/// Whether this thread owns a lock.
bool rl_owns(const void *address);

/// The owner of a recursive lock takes it once more. No point: no other thread can tell.
void rl_took_again(const void *address);

/// This thread releases a lock, its own or its share. No point: whatever another thread does
/// right before it could as well be done right after it.
void rl_unlocked(const void *address);

/// This thread has really taken `lock`. If it comes to a deadlock, `release` will be called.
void rl_holds(void *lock, void (*release)(void *lock));

/// This thread has taken a lock that it will release by setting `word` to 0, without a call.
void rl_will_release_silently(void *word, void (*release)(void *word));

/// This thread, whose last step was an RL_WAIT on `condition`, sleeps until it is woken. Its next
/// point is to take back the lock that goes with the condition.
void rl_fell_asleep(const void *condition);

/// Wakes the thread that has slept longest on a condition, or all of them; if none sleeps, the signal is
/// lost.
void rl_wake_sleepers(const void *condition, bool everybody);

/// Whether the count of this semaphore is known in this run; and what it is to begin with.
bool rl_is_counted(const void *semaphore);
void rl_count(const void *semaphore, int64_t count);
/// Called for each signal that a real semaphore gets after the run.
void rl_set_signaller(void (*signal)(void *semaphore));

/// How many pieces of work a group waits for: set when it is met for the first time in a run, changed
/// by RL_ENTER and RL_LEAVE.
void rl_count_unfinished(const void *group, int64_t count);
int64_t rl_unfinished(const void *group);

/// Work for whose end another thread waits (RL_AWAIT), counted as one unfinished piece, has been done.
/// No point: nothing but that wait depends on it.
void rl_finished(const void *work);

/// Work that was sent to a queue of Dispatch by this thread stands in line for it until it is done.
/// `exclusive`: nothing else may be done on the queue meanwhile.
void rl_stand_in_line(const void *queue, const void *work, bool exclusive);
void rl_leave_line(const void *queue, const void *work);
/// From now on this thread waits behind all work that stands in line for the queue.
void rl_come_later(const void *queue);
/// It is for this work that the thread takes the queue in its next step; NULL: for itself.
void rl_come_for(const void *work);

/// To which address work is sent for a queue of Dispatch, and the queue stays free to be taken.
static inline const void *rl_line_of(const void *queue) { return (const char *)queue + 1; }

/// There is one more thing to receive from a place (`rl_await`).
void rl_deliver(const void *place);

/// The earliest moment of which others may know that includes all that this thread has done so far,
/// where it has just left a queue of Dispatch: it does not matter which work is still on it.
rl_moment rl_end_of_work(const void *queue);

// MARK: - For the scheduler

/// The lock for which a thread at such a point would have to wait, or NULL.
lock *rl_waits_for(rl_kind kind, uintptr_t address);
uint8_t rl_free_for(uintptr_t address);
/// Whether there is nothing to wait for.
bool rl_is_available(const thread *t);
/// Whether a thread that is about to take a queue has to let other work go first.
bool rl_is_in_line(const thread *t);
/// Whether a thread that is about to take a queue could as well have come after work that `*sender`
/// has sent there meanwhile.
bool rl_could_come_later(const thread *t, int8_t *sender);
/// Takes what the thread has come for. Returns false if a mere attempt found it taken.
bool rl_take(int index, thread *t);
/// Whether there is a signal that can wake a thread.
bool rl_is_signalled(const thread *t);
void rl_forget_signals(void);
/// A thread that slept on a condition no longer does: it was woken, or its time was up.
void rl_is_awake(thread *t);
void rl_release_lock(thread *t, uintptr_t address);
/// Notices which of the locks that are released without a word have been released.
void rl_notice_unlocks(thread *t);
/// Gives real semaphores what the threads of a run that is over have signalled.
void rl_settle_semaphores(void);
/// The thread that keeps another one waiting, or NO_THREAD, and where it took what it has.
int rl_holder(const thread *t, uintptr_t *pc);
