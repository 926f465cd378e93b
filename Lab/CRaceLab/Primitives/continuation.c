// Continuations: a task suspends itself until another thread resumes it, once.

#include "Model/happens_before.h"
#include "Model/misuse.h"
#include "Primitives/next_symbol.h"
#include "Primitives/points.h"
#include "Primitives/task.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

static const rl_operation resume = {.kind = RL_RESUME};

void rl_resumes_task(const void *task, rl_place place) {
    thread *t = my_thread();
    if (t->is_of_runtime)
        rl_runtime_did(RL_RESUME, (uintptr_t)task, 0);
    else if (!t->is_resuming)
        rl_point(&resume, task, rl_place_of_await(place));
    t->is_resuming = false;
    const int index = rl_task_at(task);
    if (index == NO_THREAD) return;
    thread *resumed = &lab.run.threads[index];
    // The end of a sleep is no news.
    if (t->sleeper != resumed) rl_forget_visits(resumed);
    if (resumed->continuation == IS_PENDING) resumed->continuation = IS_RESUMED;
    if (!t->is_of_runtime) lab.steps[t->last_step].resumes = (int8_t)index;
    if (!resumed->is_away) {
        resumed->was_resumed = true;
        resumed->resumed = t->clock;
    }
    rl_release_clock(task);
}

void rl_has_been_resumed(void) {
    thread *t = my_thread();
    if (!t->was_resumed) return;
    t->was_resumed = false;
    rl_runtime_did(RL_ATOMIC_READ, t->task, 0);
    if (!rl_has_fault(RL_FAULT_EARLY_RESUME_ORDERS_NOTHING)) rl_join_clock(&t->clock, &t->resumed);
}

// MARK: - Misuse

/// The task on the calling thread has begun a continuation that the program may resume.
static void begins_continuation(const void *task) {
    thread *t = my_thread();
    t->accesses++;
    if (t->task != (uintptr_t)task) return;
    const bool is_first = t->continuation == NO_CONTINUATION;
    t->continuation = IS_PENDING;
    t->continuation_began = is_first ? 0 : t->clock.at[me->thread];
}

/// Returns the task with this address that has begun a continuation. The task may have ended since.
static thread *task_with_continuation(const void *task) {
    for (int i = lab.run.thread_count - 1; i >= 0; i--) {
        thread *t = &lab.run.threads[i];
        if (t->is_task && t->task == (uintptr_t)task && t->continuation != NO_CONTINUATION)
            return t;
    }
    return NULL;
}

/// A continuation is identified only by the address of its task. If the calling thread cannot know
/// yet that the task has begun another continuation, it holds an earlier one, which has been
/// resumed. It could hold the new one only through a data race.
static bool means_resumed_continuation(const thread *task) {
    const uint32_t known = my_thread()->clock.at[task - lab.run.threads];
    const bool is_earlier = known < task->continuation_began && lab.run.race_count == 0;
    return task->continuation == IS_RESUMED || is_earlier;
}

/// Called before the program resumes a continuation. Returns false if it has been resumed already,
/// which is a misuse.
static bool may_resume(const void *task, rl_place place) {
    if (!rl_controls_tasks()) return true;
    thread *t = my_thread(), *resumed = task_with_continuation(task);
    if (!resumed || t->is_of_runtime) return true;
    const rl_place from = rl_place_of_await(place);
    const bool is_other = resumed != t;
    if (is_other) rl_point(&resume, task, from);
    if (means_resumed_continuation(resumed)) {
        rl_is_misused(RL_RESUMED_TWICE, from);
        return false;
    }
    resumed->continuation = IS_RESUMED;
    t->is_resuming = is_other;
    return true;
}

// MARK: - Entry points

static __attribute__((noinline)) void before_await(void) {
    if (rl_controls_tasks()) rl_has_been_resumed();
}

ASYNC_FUNCTION void swift_continuation_await(void *continuation) {
    if (rl_active) before_await();
    __attribute__((musttail)) return REAL(swift_continuation_await)(continuation);
}

// The functions below are called by code into which the compiler inlined the methods of an unsafe
// continuation. A checked continuation is created and resumed inside the library, and checks
// itself.

SWIFT_FUNCTION void *swift_continuation_init(void *context, size_t flags) {
    void *task = REAL(swift_continuation_init)(context, flags);
    if (rl_controls_tasks()) begins_continuation(task);
    return task;
}

SWIFT_FUNCTION void swift_continuation_resume(void *task) {
    if (may_resume(task, RL_CALLER)) REAL(swift_continuation_resume)(task);
}

SWIFT_FUNCTION void swift_continuation_throwingResume(void *task) {
    if (may_resume(task, RL_CALLER)) REAL(swift_continuation_throwingResume)(task);
}

SWIFT_FUNCTION void swift_continuation_throwingResumeWithError(void *task, void *error) {
    if (may_resume(task, RL_CALLER)) REAL(swift_continuation_throwingResumeWithError)(task, error);
}

#endif
