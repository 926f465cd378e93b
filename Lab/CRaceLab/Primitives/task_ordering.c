// The ordering that tasks cause.
//
// The runtime itself reports happens-before edges, to ThreadSanitizer (task_calls.c). The lab
// corrects them: initializing a global orders nothing, since that happens in the first run only;
// resuming a continuation before it is awaited orders what follows the await; and so do the
// runtime's own locks.

#include "Primitives/task.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/points.h"
#include "Search/execution.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/shadow.h"

const rl_operation rl_cancel_task = {.kind = RL_CANCEL};
const rl_operation rl_ask_task = {.kind = RL_ASK};

int rl_task_at(const void *task) {
    for (int i = lab.run.thread_count - 1; i >= 0; i--) {
        const thread *t = &lab.run.threads[i];
        if (t->is_task && t->task == (uintptr_t)task && !t->finished && !t->is_ending) return i;
    }
    return NO_THREAD;
}

// MARK: - Acquire and release in the runtime

/// For comparison in tests: a point at every event of the runtime, unless the task has already been
/// enqueued and could continue elsewhere.
static void point_at_all(const void *thing) {
    if (!rl_has_fault(RL_FAULT_POINT_AT_ALL_OF_RUNTIME) || !rl_active) return;
    const thread *t = my_thread();
    if (t->is_sent || t->work_of_yield || t->is_ending || t->is_of_runtime) return;
    rl_point(&rl_ask_task, thing, (rl_place){0, me->body});
    my_thread()->accesses--;
}

/// Whether the address is that of a task. Called when no unfinished task has the address, so such a
/// task has ended.
static bool has_ended(const void *task) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (lab.run.threads[i].is_task && lab.run.threads[i].task == (uintptr_t)task) return true;
    return false;
}

void rl_runtime_acquires(const void *thing) {
    cell *c = rl_cell_at((uintptr_t)thing);
    if (me->thread == NO_THREAD) {
        rl_join_clock(&me->before_job, &c->released);
        if (c->left_in > me->left_in) me->left_in = c->left_in;
        return;
    }
    thread *t = my_thread();
    rl_join_clock(&t->clock, &c->released);
    if (rl_task_at(thing) != NO_THREAD) return;
    if (has_ended(thing)) return rl_runtime_did(RL_ATOMIC_READ, (uintptr_t)thing, 0);
    t->is_arriving = false;
    rl_note_order_from(c->left_in, me->thread);
}

void rl_release_clock(const void *thing) {
    cell *c = rl_cell_at((uintptr_t)thing);
    thread *t = my_thread();
    rl_join_clock(&c->released, &t->clock);
    rl_advance(t);
}

// A task that leaves an actor and one that arrives there can be permuted, unless they differ in
// their priorities: the second one runs afterwards either way. Only the order of arrival matters,
// and what a task waits for: if that is available already, the task does not leave its actor.
void rl_runtime_releases(const void *thing, bool only_orders) {
    if (me->thread == NO_THREAD) return;
    point_at_all(thing);
    thread *t = my_thread();
    const bool is_own = t->task == (uintptr_t)thing;
    const bool is_yielding = t->work_of_yield || t->is_yielding;
    const bool goes_on =
        only_orders || t->is_arriving || t->is_ending || is_yielding || t->is_registering;
    if (is_own && !goes_on) {
        rl_runtime_did(RL_ATOMIC_READ, (uintptr_t)thing, 0);
        rl_runtime_did(RL_ASK, ALL_TASKS, 0);
    }
    const bool is_actor = !is_own && rl_task_at(thing) == NO_THREAD;
    if (is_actor) rl_cell_at((uintptr_t)thing)->left_in = lab.run.step_count;
    if (is_actor) rl_leaves_actor((uintptr_t)thing);
    rl_release_clock(thing);
}

void rl_is_registering(bool is_registering) { my_thread()->is_registering = is_registering; }

void rl_cancels_or_asks(const rl_operation *operation, rl_place place) {
    rl_point(operation, (const void *)ALL_TASKS, place);
}

// MARK: - Children, which the runtime may cancel without a call that the lab could intercept

const char rl_all_tasks;

extern SWIFT_FUNCTION bool swift_task_isCancelled(const void *task);

static bool is_running_child(const thread *t) {
    return t->is_task && t->parent != NO_THREAD && !t->finished && !t->is_ending;
}

void rl_has_child(int child) {
    lab.run.threads[child].parent = me->thread;
    lab.run.step_ended = rl_look_for_cancelled_children;
}

bool rl_has_children(void) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (is_running_child(&lab.run.threads[i]) && lab.run.threads[i].parent == me->thread)
            return true;
    return false;
}

void rl_look_for_cancelled_children(void) {
    if (lab.run.step_ended != rl_look_for_cancelled_children || me->thread < 0) return;
    const thread *t = my_thread();
    const bool is_known = t->last_step >= 0 && lab.steps[t->last_step].kind == RL_CANCEL;
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *child = &lab.run.threads[i];
        if (!is_running_child(child) || child->is_cancelled) continue;
        child->is_cancelled = REAL(swift_task_isCancelled)((const void *)child->task);
        if (!child->is_cancelled || is_known) continue;
        rl_runtime_did(RL_CANCEL, ALL_TASKS, 0);
        for (int k = 0; k < lab.run.thread_count; k++)
            rl_change_for(&lab.run.threads[k], ALL_TASKS, true);
    }
}

#endif
