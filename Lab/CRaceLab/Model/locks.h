// What threads wait for: locks, semaphores, conditions, groups, queues and the end of other
// threads.

#pragma once

#include "Model/happens_before.h"
#include "State/state.h"

/// Whether this thread owns a lock.
bool rl_owns(const void *address);

/// The owner of a recursive lock takes it again. Not a point: no other thread can observe it.
void rl_took_again(const void *address);

/// The calling thread releases a lock or its share of one. Not a point: what another thread does
/// right before the release could as well come right after it.
void rl_unlocked(const void *address);

/// The calling thread has taken the real lock. If the run is abandoned, the engine calls `release`.
/// `is_of_thread`: for the lock it matters which thread of the operating system has taken it, as for
/// a recursive one.
void rl_holds(void *lock, void (*release)(void *lock), bool is_of_thread);
/// Whether the thread holds such a lock.
bool rl_holds_lock_of_thread(const thread *t);

/// The calling thread has taken a lock that it will release by setting `word` to 0, without a call.
void rl_will_release_silently(void *word, void (*release)(void *word));

/// The calling thread, whose last step was an RL_WAIT on `condition`, sleeps until it is woken. At
/// its next point it takes back the lock that belongs to the condition.
void rl_fell_asleep(const void *condition);

/// Wakes the thread that has slept longest on a condition (with RL_LIBERTY_ANY_WAITER, any one of
/// them), or all threads that sleep on it. If there is none, the signal is lost.
void rl_wake_sleepers(const void *condition, bool everybody);

/// Whether the count of this semaphore is known in this run; and sets its initial count.
bool rl_is_counted(const void *semaphore);
void rl_count(const void *semaphore, int64_t count);
/// Sets the function that signals a real semaphore after the run.
void rl_set_signaller(void (*signal)(void *semaphore));

/// The number of units of work that a group waits for. It is set when the group is first used in a
/// run, and changed by RL_ENTER and RL_LEAVE.
void rl_count_unfinished(const void *group, int64_t count);
int64_t rl_unfinished(const void *group);

/// Work that another thread waits for (RL_AWAIT), counted as one unfinished unit, has been done.
/// Not a point: only that wait depends on it.
void rl_finished(const void *work);

/// Work that this thread sent to a Dispatch queue keeps its place in the queue until it is done.
/// `exclusive`: no other work may run on the queue meanwhile.
void rl_stand_in_line(const void *queue, const void *work, bool exclusive);
void rl_leave_line(const void *queue, const void *work);
/// From now on this thread waits for all work that is in the queue.
void rl_come_later(const void *queue);
/// In its next step the thread takes the queue for this work; NULL: for itself.
void rl_come_for(const void *work);

/// The address to which work for a Dispatch queue is sent. The queue's own address is its lock.
static inline const void *rl_line_of(const void *queue) { return (const char *)queue + 1; }

/// Adds one item to what can be received from a place (`rl_await`).
void rl_deliver(const void *place);

/// The earliest moment known to others that includes all that this thread has done so far. Called
/// after it has left a Dispatch queue; work that is still on the queue does not matter.
rl_moment rl_end_of_work(const void *queue);

// MARK: - For the scheduler

/// The lock that a thread at such a point may have to wait for, or NULL.
lock *rl_waits_for(rl_kind kind, uintptr_t address);
uint8_t rl_free_for(uintptr_t address);
/// Whether the thread does not have to wait.
bool rl_is_available(const thread *t);
/// Whether a thread that is about to take a queue has to wait for work that was sent earlier.
bool rl_is_in_line(const thread *t);
/// Whether a thread that is about to take a queue could have arrived after work that `*sender` sent
/// there meanwhile.
bool rl_could_come_later(const thread *t, int8_t *sender);
/// Takes what the thread waits for. Returns false if an attempt failed.
bool rl_take(int index, thread *t);
/// Whether there is a signal that can wake the thread.
bool rl_is_signalled(const thread *t);
void rl_forget_signals(void);
/// Ends a thread's sleep on a condition: it was woken, or its wait timed out.
void rl_is_awake(thread *t);
void rl_release_lock(thread *t, uintptr_t address);
/// Finds the locks that the thread has released silently.
void rl_notice_unlocks(thread *t);
/// Signals the real semaphores as often as the threads did during the completed run.
void rl_settle_semaphores(void);
/// Returns the thread that `t` waits for, or NO_THREAD; stores where it took the lock in `*pc`.
int rl_holder(const thread *t, uintptr_t *pc);
