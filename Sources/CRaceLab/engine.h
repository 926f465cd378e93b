// The interface between the hooks and the engine.

#ifndef ENGINE_H
#define ENGINE_H

#include "CRaceLab.h"

#include <pthread.h>
#include <setjmp.h>

// Release builds contain no hooks: the compiler leaves out the calls that they need there. Builds under
// ThreadSanitizer contain its own definitions of the same functions.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RL_UNDER_THREAD_SANITIZER 1
#endif
#endif
#if !defined(DEBUG) || defined(RL_UNDER_THREAD_SANITIZER)
#define RL_WITHOUT_HOOKS 1
#endif

#ifndef RL_WITHOUT_HOOKS

#if defined(__linux__)
// The lab's own code in a section of its own, so that a walk up a stack can tell it from the code
// under test.
#pragma clang section text = "rl_text"
#endif

/// Not 0 while this thread's accesses are steps. The only thing an entry point looks at when no
/// exploration is under way.
extern _Thread_local int rl_active;

/// Where an entry point was called: the place in the code under test, and the top of its stack.
typedef struct {
    uintptr_t pc;
    uintptr_t stack;
} rl_place;

#define RL_CALLER                                          \
    ((rl_place){(uintptr_t)__builtin_return_address(0),    \
                (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *)})

// MARK: - Whose call it is (call_sites.c)

/// Whether the code at an address belongs to the program, and not to the toolchain's libraries.
bool rl_is_under_test(uintptr_t pc);

/// Whether a call of an entry point was made by the code under test, be it through one of those
/// functions of Foundation or Dispatch that do nothing else for it. If so, `*place` is moved up
/// the stack to the code under test.
bool rl_is_call_of_program(rl_place *place);

/// At the head of an entry point: whether this call is a matter for the lab; if so, `place`
/// is where the program made it.
#define IS_LISTENED_TO(place)     \
    rl_place place = RL_CALLER;   \
    bool is_listened_to = rl_active && rl_is_call_of_program(&place)

/// The place to show for an access: where the code under test stands in a source file. Accessors and
/// thunks have no lines; then it is the place from which they are called. `place` is RL_CALLER.
rl_place rl_place_in_source(rl_place place);

/// The library of the toolchain that makes a call for the code under test: the first one on the stack
/// that is not Dispatch; NULL if there is none. `*place` is moved up the stack to the code under test.
const char *rl_library_between(rl_place *place);

/// Whether something at an address is as old as the program, or the library, that has it.
bool rl_is_global(uintptr_t address);

/// Whether the code at an address belongs to the library of this name, which has no ending.
bool rl_is_in_library(uintptr_t pc, const char *name);

/// The place where an object is made, from that where it is allocated.
rl_place rl_place_of_making(rl_place place);

/// Whether the code at an address is this C code of the lab.
bool rl_is_labs_own(uintptr_t pc);

/// Whether an atomic operation belongs to code that the compiler has added.
bool rl_is_compilers_own(uintptr_t pc);

// MARK: - Points (engine.c)

/// Lets others go first, if the schedule says so, and returns when it is this thread's turn.
/// The caller then does what it announced. Returns the number of the step.
uint32_t rl_point(rl_kind kind, const void *address, rl_place place);

/// The same, for something that is waited for only so long. How long is no matter: the time is
/// up when no other thread can go on, and not before. See `rl_got_it`.
uint32_t rl_timed_point(rl_kind kind, const void *address, rl_place place);

/// The same, for an atomic operation; its memory ordering as C numbers them (`__ATOMIC_…`).
uint32_t rl_atomic_point(rl_kind kind, const void *address, rl_place place, int order);

/// A fence. No point: only this thread's own atomic operations can tell.
void rl_fence(int order);

/// Whether the step that was just granted got what it came for: false for a mere attempt that
/// came too early, and when the time was up.
bool rl_got_it(uint32_t step);

/// Tells one run from another.
uint64_t rl_run_number(void);

/// Whether this is one of the lab's threads; and whether it sets up a scenario, or judges a run.
bool rl_is_of_lab(void);
bool rl_is_between_runs_here(void);

/// What was sent to queues meanwhile is done before the lab goes on; or one piece of it, now. Returns
/// false if there is none that could be done.
void rl_finish_work_between_runs(void);
/// What is left of it has been sent by something that did not come to its end.
void rl_forget_work_between_runs(void);
bool rl_do_waiting_work(void);

/// What was sent with a delay while a scenario was set up may be done at any time from now on. What
/// was sent so by a check is never done.
void rl_begin_delayed_work(void);
void rl_forget_delayed_work(void);

/// A thread was started while a scenario is set up, or a run judged, and has not been joined.
void rl_meet_thread_of_set_up(pthread_t pthread, rl_place place);
void rl_forget_thread_of_set_up(pthread_t pthread);

/// On a thread of the lab: this was made in this run, so that no code outside of the scenario has it.
void rl_made(const void *object);

/// Whether this thread stands for the main thread of the process.
bool rl_stands_for_main_thread(void);
/// From now on it does, or not. Returns whether it did before.
bool rl_stand_for_main_thread(bool is_main);

/// The code under test does something that goes on outside of the scenario, where the lab cannot see
/// it: there will be no verdict. Where accesses are steps, this ends the run and does not return.
void rl_meet_outside(const char *what, rl_place place);

_Noreturn void rl_end_run_with_too_many_threads(void);

/// What came of an RL_EXCHANGE that compares first.
void rl_exchanged(uint32_t step, bool done, int order, int order_of_failure);
/// What came of an RL_EXCHANGE that writes in any case: whether something else is there now.
void rl_swapped(bool changes, int order);

// MARK: - Locks (locks.c)

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

/// A moment in the life of a thread.
typedef struct {
    int8_t thread;
    uint32_t clock;
} rl_moment;

/// The earliest moment of which others may know that includes all that this thread has done so far,
/// where it has just left a queue of Dispatch: it does not matter which work is still on it.
rl_moment rl_end_of_work(const void *queue);
/// Whether a moment happened before what this thread does now.
bool rl_knows(rl_moment moment);

/// What this thread has done so far happens before what is done after `rl_received(thing)`.
void rl_hand_down(const void *thing, uintptr_t pc);

/// What was done before those left the group that have left it happens before what is done after
/// `rl_received(thing)`.
void rl_pass_on(const void *thing, const void *group);

// MARK: - Threads (workers.c)

/// Right after an RL_START: runs `start` as one more thread of this run, up to its first point.
/// Returns what pthread_create does.
int rl_start_thread(pthread_t *pthread, const pthread_attr_t *attributes,
                    void *(*start)(void *), void *argument);

/// While a scenario is set up: adds a thread to those with which the run begins.
void rl_add_thread_of_set_up(void (*body)(void *argument), void *argument);

/// Runs `start` as `count` more threads of this run, with the numbers from 0 on. The next RL_JOIN on
/// `team` waits for the end of them all.
void rl_start_team(const void *team, size_t count, void (*start)(const void *team, size_t number));

/// The thread of this run that is known as `pthread`, or -1. The next RL_JOIN waits for its end.
int rl_will_join(pthread_t pthread);
void rl_detached(pthread_t pthread);

/// The number by which the operating system, and so `Mutex`, knows this thread.
uint32_t rl_thread_number(void);

/// A place in the stack of this thread where it goes when its body is given up, in place of the
/// beginning: a caller of code under test through a function that must return sets one
/// (`setjmp(landing.at)`), and goes on with `rl_continue_giving_up` when that has returned.
typedef struct rl_landing {
    jmp_buf at;
    struct rl_landing *outer;
} rl_landing;

void rl_set_landing(rl_landing *landing);
void rl_remove_landing(rl_landing *landing);
void rl_continue_giving_up(void);

// MARK: - Misuse (misuse.c)

void rl_is_misused(rl_misuse_kind kind, rl_place place);
/// A semaphore was made with a count, or is about to be freed.
void rl_made_semaphore(const void *semaphore, int64_t count);
void rl_frees_semaphore(const void *semaphore, rl_place place);
/// Whether a thread of this run holds a lock, be it as a reader.
bool rl_is_held(const void *lock);
/// Whether it is held for writing, and by another thread than this one.
bool rl_is_held_elsewhere(const void *lock);

// MARK: - Reference counts (reference_counts.c)

/// A release that a thread is in the middle of.
typedef struct rl_release_in_progress {
    const void *object;
    struct rl_release_in_progress *outer;
} rl_release_in_progress;

void rl_begin_release(rl_release_in_progress *this, const void *object);
void rl_end_release(const rl_release_in_progress *this);

/// This thread changes the reference count of an object.
void rl_counts(const void *object, int change);
void rl_has_counted(const void *object, int change);
/// The code can tell when an object ends.
void rl_is_observed(const void *object);
/// A weak reference is given its object, or that of another one.
void rl_refers_weakly(const void *reference, const void *object);
void rl_copies_weak_reference(const void *to, const void *from);
/// This thread asks whether the object of a weak reference is still there.
void rl_looks_for(const void *reference);
/// What this thread does now depends on whether an object is still there, or has one reference only.
void rl_looks_at_object(const void *object);
void rl_asks_for_uniqueness(const void *object);

/// From now on retains and releases are noticed, or no longer. Returns whether they can be.
bool rl_listen_to_counts(bool on);

// MARK: - Tasks (tasks.c)

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
bool rl_has_fault(unsigned fault);

/// The place in the code under test from which the runtime is called; 0 if that has left the stack.
rl_place rl_place_of_await(rl_place place);
/// The place in the code under test that awaits the function of a library which runs now; 0: not known.
rl_place rl_place_that_awaits(rl_place place);
/// The first function under test in a list of the contexts of functions that wait for one another; 0: none.
uintptr_t rl_place_in_contexts(const uintptr_t *context);

// MARK: - Reading the state (observe.c)

/// Whether this thread reads the state of the scenario. All others stand still.
extern _Thread_local bool rl_is_observing;

/// It accesses something.
void rl_touch(const void *address);
/// It is about to take a lock. Does not return if a thread of the scenario holds it.
void rl_observer_locks(void *address, void (*release)(void *lock));
void rl_observer_unlocks(const void *address);
/// Ends the observation if it has used so many atomics that it waits for a thread that stands still.
void rl_observer_uses_atomic(void);

// MARK: - Memory (engine.c)

/// Keeps freed memory from being used again during the run, so that an address stands for one
/// thing only. Returns false if the caller is to free it now.
bool rl_keep(void *memory);
/// An object that was made in this run is no longer there.
void rl_forget_object(const void *memory);
/// This thread has allocated memory.
void rl_allocated(void *memory, size_t size);
/// This thread frees memory, or moves it elsewhere.
void rl_freed(const void *memory);

#endif
#endif
