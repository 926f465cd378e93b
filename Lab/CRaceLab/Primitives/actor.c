// Actors, and the executors on which tasks run.
//
// An actor is not modeled: the runtime queues the tasks that wait for it, and the lab decides when
// a task arrives. An executor of the program's own keeps its tasks itself.

#include "Primitives/actor.h"

#include "Platform/memory.h"
#include "Primitives/families.h"
#include "Scheduler/outside.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <string.h>

/// The place of the last switch of the code under test to an actor.
static uintptr_t arrival;

uintptr_t rl_last_arrival(void) { return arrival; }

extern SWIFT_FUNCTION executor swift_task_getCurrentExecutor(void);
extern SWIFT_FUNCTION executor swift_task_getMainExecutor(void);
extern SWIFT_FUNCTION void *swift_task_getCurrent(void);

executor rl_current_executor(void) { return REAL(swift_task_getCurrentExecutor)(); }

uintptr_t rl_current_task(void) { return (uintptr_t)REAL(swift_task_getCurrent)(); }

uintptr_t rl_main_actor(void) { return REAL(swift_task_getMainExecutor)().identity; }

bool rl_is_actor(executor e) {
    const bool is_of_program = e.implementation & ~(uintptr_t)7;
    return e.identity != 0 && !is_of_program && e.identity != rl_main_actor();
}

// MARK: - After a run that was abandoned

// A run may end while a task is on an actor. A global actor, or another one that later runs use,
// too, would never be free again. So the actor gets back what the runtime kept in it before.

/// The words after the header of an object in which the runtime keeps the state of an actor.
enum { FIRST_WORD = 2, WORDS = 12 };

static struct {
    uintptr_t *actor;
    uintptr_t words[WORDS];
} * met;
static size_t met_count, met_capacity;

void rl_meets_actor(uintptr_t identity) {
    uintptr_t *actor = (uintptr_t *)identity;
    for (size_t i = 0; i < met_count; i++)
        if (met[i].actor == actor) return;
    MAKE_LASTING_ROOM(met, met_count, met_capacity, 8);
    met[met_count].actor = actor;
    memcpy(met[met_count++].words, actor + FIRST_WORD, sizeof met->words);
}

static void free_actors(bool is_complete) {
    for (size_t i = 0; i < met_count && !is_complete; i++)
        memcpy(met[i].actor + FIRST_WORD, met[i].words, sizeof met->words);
    met_count = 0;
}

RL_SERVICE(.threads_have_ended = free_actors)

// MARK: - Going to an actor

static __attribute__((noinline)) void before_switch(const uintptr_t *context, uintptr_t resume,
                                                    executor to) {
    const bool is_by_program = rl_is_under_test(resume);
    // The code of `MainActor.run` has no lines: show its caller.
    const bool has_line = is_by_program && !rl_is_compilers_own(resume + 1);
    arrival = has_line ? resume + 1 : rl_place_in_contexts(context);
    const bool is_there = rl_current_executor().identity == to.identity;
    if (is_by_program && !is_there && rl_is_actor(to)) {
        rl_meets_actor(to.identity);
        rl_arrives(to.identity, resume + 1);
    }
    my_thread()->actor = to.identity;
}

ASYNC_FUNCTION void swift_task_switch(ASYNC_CONTEXT void *context, void *resume, uintptr_t identity,
                                      uintptr_t implementation) {
    if (rl_sees(RL_ACTORS, (rl_place){(uintptr_t)resume, 0}) && rl_controls_tasks())
        before_switch(context, (uintptr_t)resume, (executor){identity, implementation});
    __attribute__((musttail)) return REAL(swift_task_switch)(context, resume, identity,
                                                             implementation);
}

/// Called when a task suspends, or is about to be enqueued elsewhere.
void swift_task_exitThreadLocalContext(void *context) {
    if (rl_controls_tasks()) {
        const executor here = rl_current_executor();
        my_thread()->left = rl_is_actor(here) ? here.identity : 0;
    }
    REAL(swift_task_exitThreadLocalContext)(context);
}

/// An isolated `deinit` runs at once if its actor is free, and later otherwise. When it runs is not
/// explored.
SWIFT_FUNCTION void swift_task_deinitOnExecutor(void *object, void *work, executor wanted,
                                                size_t flags) {
    if (rl_controls_tasks() && rl_current_executor().identity != wanted.identity)
        rl_meet_outside("releases an object whose isolated deinit may run later",
                        rl_place_in_source(RL_CALLER));
    REAL(swift_task_deinitOnExecutor)(object, work, wanted, flags);
}

// MARK: - Executors of the program

// An executor of the program's own passes a job to a thread in its own way, and has the thread run
// it. The task then runs within the body of that thread.

/// The functions of the runtime that run it, whatever their parameters are: a job, and one or two
/// executors.
typedef SWIFT_FUNCTION void (*job_runner)(void *job, executor first, executor second);

typedef struct {
    job_runner run;
    void *job;
    executor first, second;
} job_on_executor;

static void run_on_executor_of_program(void *context) {
    const job_on_executor *j = context;
    j->run(j->job, j->first, j->second);
}

static void run_job_of_program(job_on_executor j, rl_place place) {
    if (!rl_controls_tasks()) return run_on_executor_of_program(&j);
    if (rl_is_in_enqueue(j.job))
        rl_meet_outside("runs a task on an executor whose 'enqueue' has not returned",
                        rl_place_in_source(place));
    rl_run_job_here(&j, run_on_executor_of_program);
}

#define RUNS_JOB(name)                                                     \
    SWIFT_FUNCTION void name(void *job, executor first, executor second) { \
        const job_on_executor j = {REAL(name), job, first, second};        \
        run_job_of_program(j, RL_CALLER);                                  \
    }
RUNS_JOB(swift_job_run)
RUNS_JOB(swift_job_run_on_task_executor)
RUNS_JOB(swift_job_run_on_serial_and_task_executor)

#endif
