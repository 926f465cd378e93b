// What the files of the scheduler call of one another. Elsewhere, only what starts threads, tasks or
// child processes needs it.

#pragma once

#include "State/state.h"

/// Deadlines that are fewer nanoseconds apart come at the same moment.
#define RL_SAME_MOMENT 1000000

// MARK: - Decisions

/// Decides which thread makes the next step. NO_THREAD: the run is over; `lab.run.status` says why.
int rl_decide(void);

// MARK: - The threads of a scenario

/// Resets a thread, before it starts.
void rl_make_thread(int index);
/// Makes a thread that the current thread starts. Returns its number: the next one.
int rl_add_thread(void);
/// The next thread to start, while some have not been started.
int rl_next_to_start(void);
/// Calls `stepped` when the thread that made the step has reached its next point.
void rl_report_last_step(thread *t);

// MARK: - Jobs of tasks that have left the runtime and have not begun

/// `thread`: the task that the job belongs to; NO_THREAD: it is an actor's job.
void rl_add_job(void *job, void (*work)(void *job), int thread);
/// Begins the next job that was sent. All sent jobs begin before the next decision. Returns false
/// if there are none.
bool rl_begin_next_job(void);
bool rl_has_next_job(void);

// MARK: - Workers

worker *rl_new_worker(void);
/// The calling worker has nothing to do.
void rl_become_idle(void);
/// What a worker does.
void *rl_work(void *worker);

void rl_hand_over(worker *w);
void rl_assign(int what);
/// Lets a thread make the next step, whether or not a worker runs it already.
void rl_pass_turn(int index);

/// The calling operating-system thread is this worker.
void rl_begin_work(worker *w);
/// Binds it to the processor on which the exploration runs.
void rl_bind_to_processor(worker *w);

/// Returns when the exploration is over, or when its running thread will not hand over again.
void rl_watch(void);

// MARK: - Bodies that are abandoned

/// The last action of a worker whose body was abandoned.
void rl_meet_fate(void);
/// Abandons the bodies that wait at a point and will not get another turn.
void rl_dismiss_the_rest(void);

// MARK: - In a child process

/// Resets the engine in a child process, which has only one of its parent's threads. Steps are
/// written to the recorder, which has room for `room` steps.
void rl_begin_in_child(uint32_t room);
