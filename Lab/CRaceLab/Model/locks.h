// Locks with one owner or several readers. Mutexes, readers-writer locks and the queues of Dispatch
// are such locks.

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
void rl_holds(held_lock held);
/// Whether the thread holds such a lock.
bool rl_holds_lock_of_thread(const thread *t);

// MARK: - For the operations of such locks

/// Whether no thread holds the lock; and whether no thread holds it exclusively.
bool rl_is_unowned(const thread *t);
bool rl_has_no_writer(const thread *t);
/// The thread takes the lock that it waits for, or a share of it.
void rl_own(thread *t);
void rl_share(thread *t);
/// The thread that holds the lock exclusively, or NO_THREAD; the second one also finds a reader.
/// Sets where that thread took it.
int rl_owner(const thread *t, uintptr_t *pc);
int rl_owner_or_reader(const thread *t, uintptr_t *pc);

// MARK: - For the scheduler

/// How a lock, a semaphore or a queue is available: RL_FREE_….
uint8_t rl_free_for(uintptr_t address);
void rl_release_lock(thread *t, uintptr_t address);
/// Finds the locks that the thread has released silently.
void rl_notice_unlocks(thread *t);
/// The calling thread goes on. If its last exchange was refused, and it has not asked for a `Mutex`
/// then, the word is a lock of the program itself, and the exploration starts over.
void rl_notice_own_lock(void);
