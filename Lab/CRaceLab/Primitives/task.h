// Tasks of Swift concurrency.

#pragma once

#include "Primitives/families.h"

/// The task with this address that has not ended, or NO_THREAD.
int rl_task_at(const void *task);
/// What happened before now on the calling thread happens before what acquires this.
void rl_release_clock(const void *thing);
/// The calling thread is about to create a task on this actor, 0 for none; and it has created it.
void rl_creates_task(uintptr_t actor, bool is_child, rl_place place);
void rl_created_task(void);
/// A job leaves the runtime; any thread may run it.
void rl_send_job(void *job, void (*work)(void *job), rl_place place);
/// The same for a job that is due at `time`.
void rl_send_job_later(void *job, void (*work)(void *job), uint64_t time, bool is_of_runtime);
/// Runs a job within the body of the calling thread, which waits for it.
void rl_run_job_here(void *job, void (*work)(void *job));
/// Whether a thread is still enqueuing the task of this job, which it was running itself.
bool rl_is_in_enqueue(const void *job);
/// Registers a task that has not begun and was never sent to an executor.
void rl_meet_task(const void *task);
void rl_job_begins(const void *job, rl_place place);
void rl_job_is_enqueued(const void *job, rl_place place);
void rl_task_ends(const void *task);
/// Whether this is a task other than the one that runs on the calling thread.
bool rl_is_other_task(const void *task);
void rl_resumes_task(const void *task, rl_place place);
/// The task on the calling thread has passed its last continuation.
void rl_has_been_resumed(void);
/// The task is about to arrive at an actor.
void rl_arrives(uintptr_t actor, uintptr_t pc);
/// The acquire events that the runtime reports to ThreadSanitizer.
void rl_runtime_acquires(const void *thing);
/// The release events. `only_orders`: no other step depends on the event.
void rl_runtime_releases(const void *thing, bool only_orders);
/// The runtime takes a lock of its own, with this operation.
void rl_runtime_locks(const rl_operation *take, void *mutex, bool is_point, rl_place place);
void rl_runtime_unlocks(const void *mutex);
/// Whether the mutex that the runtime takes at this place is that of a stream.
bool rl_is_lock_of_stream(rl_place place);
/// Whether the lab is learning the runtime's addresses. If so, records that it takes this lock.
bool rl_finds_out_about_lock(void *mutex, rl_place place);
/// If `place` is within the registration of a cancellation handler, remembers where that was called,
/// and returns the address; otherwise returns 0. The stack begins at `stack`.
uintptr_t rl_learn_registration(rl_place place, uintptr_t stack);
/// The runtime releases a task, perhaps because a stream registers a handler for it.
void rl_may_register(const void *task, rl_place place);
/// Whether this worker has begun a job but does not know its task yet.
bool rl_begins_job(void);
/// Cancels a task, or checks whether one has been cancelled.
extern const rl_operation rl_cancel_task, rl_ask_task;
/// The calling thread does that with its own task, or with the children of this task.
void rl_cancels_or_asks(const rl_operation *operation, rl_place place);
/// It does that with a task that it refers to.
void rl_cancels_or_asks_task(const rl_operation *operation, const void *task, rl_place place);

// MARK: - Children, which the runtime cancels together with their parent or their group

/// The address of the state that a task shares with its parent and its children, and with theirs:
/// which have ended, and which are cancelled. The alarm of a task that sleeps belongs to it, because
/// either can come first, a cancellation or the end of the sleep.
uintptr_t rl_family_of(int index);

/// The current task has started this child.
void rl_has_child(int child);
/// Whether the current task has children that have not ended.
bool rl_has_children(void);
/// Records children that have been cancelled since the last call as an effect of the last step.
void rl_look_for_cancelled_children(void);

// MARK: - Priorities

/// A task has been created.
void rl_note_priority(thread *task);
/// The calling thread leaves an actor, which can then take another task.
void rl_leaves_actor(uintptr_t actor);

/// The functions that cancellation.c replaces; the last one is NULL.
extern const char *const rl_symbols_of_cancellation[];
