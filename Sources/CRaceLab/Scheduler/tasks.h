// Tasks of Swift concurrency.

#pragma once

#include "State/state.h"

/// Whether what this thread does with tasks is a matter for the lab.
bool rl_controls_tasks(void);
/// A task is about to be created, on this actor or on none; or has been.
void rl_creates_task(uintptr_t actor, rl_place place);
void rl_created_task(void);
/// A job leaves the runtime, to be run by any thread.
void rl_send_job(void *job, void (*work)(void *job), rl_place place);
/// Or when it is `time`.
void rl_send_job_later(void *job, void (*work)(void *job), uint64_t time, bool is_of_runtime);
/// Runs a job within the body of this thread, which waits for it.
void rl_run_job_here(void *job, void (*work)(void *job));
/// The same for a task that has not begun, and never was sent anywhere.
void rl_meet_task(const void *task);
/// The time of the model.
uint64_t rl_time(void);
void rl_job_begins(const void *job, rl_place place);
void rl_job_is_enqueued(const void *job, rl_place place);
/// This thread's task is suspended, or stands in line elsewhere.
void rl_task_is_suspended(uintptr_t actor);
void rl_task_ends(const void *task);
/// Whether this is a task, and not the one that runs here.
bool rl_is_other_task(const void *task);
void rl_resumes_task(const void *task, rl_place place);
/// This thread's task has begun a continuation that the program may resume.
void rl_begins_continuation(const void *task);
/// Before the program resumes a continuation of a task. Returns false if that has been done already, which
/// is a misuse.
bool rl_may_resume(const void *task, rl_place place);
/// This thread's task has come beyond its last continuation.
void rl_has_been_resumed(void);
/// The task is about to arrive at an actor; or goes to one, or to none, without arriving.
void rl_arrives(uintptr_t actor, uintptr_t pc);
void rl_goes_to(uintptr_t actor);
/// What the runtime tells ThreadSanitizer.
void rl_runtime_acquires(const void *thing);
/// `only_orders`: nothing else depends on it.
void rl_runtime_releases(const void *thing, bool only_orders);
/// The runtime takes a lock of its own.
void rl_runtime_locks(void *mutex, bool is_point, rl_place place);
void rl_runtime_unlocks(const void *mutex);
/// Whether this worker is about to find out which task it runs.
bool rl_begins_job(void);
/// Cancels a task, or asks whether one has been cancelled.
void rl_cancels_or_asks(rl_kind kind, rl_place place);
/// A task is resumed by a thread that is none of the lab's.
void rl_foreign_thread_resumes(const void *task);

// MARK: - For the scheduler

void rl_forget_tasks(void);
/// Jobs that were sent begin, one after the other, before anything is decided. Returns false if there
/// are none.
bool rl_begin_next_job(void);
bool rl_has_next_job(void);
/// What a worker does that was assigned a JOB.
void rl_run_job(void);
/// Whether a task that sleeps is the next one to wake up.
bool rl_is_next_to_wake(const thread *t);
/// The thread is no longer run by this worker.
void rl_leave_thread(int index);
/// Where a task that is suspended will go on; 0: not known.
uintptr_t rl_place_of_suspension(const thread *t);
/// The task that is on an actor, or NO_THREAD.
int rl_task_on(uintptr_t actor);
/// What a task that no thread runs waits for.
rl_kind rl_suspension_of(const thread *t);
/// A thread outside of the scenario has resumed a task.
bool rl_was_resumed_from_outside(void);
