// The ordering that tasks cause, their priorities, and what the library does for them.
//
// The runtime itself reports happens-before edges, to ThreadSanitizer (task_calls.c). The lab
// corrects them: initializing a global orders nothing, since that happens in the first run only;
// resuming a continuation before it is awaited orders what follows the await; and so do the
// runtime's own locks.

#include "Primitives/task.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/deferred_release.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Primitives/next_symbol.h"
#include "Primitives/points.h"
#include "Scheduler/outside.h"
#include "Search/execution.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#include <string.h>

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
        rl_runtime_did(RL_ASK, rl_family_of(me->thread), 0);
    }
    const bool is_actor = !is_own && rl_task_at(thing) == NO_THREAD;
    if (is_actor) rl_cell_at((uintptr_t)thing)->left_in = lab.run.step_count;
    if (is_actor) {
        rl_leaves_actor((uintptr_t)thing);
        t->quiet_at = UINT32_MAX;
    }
    rl_release_clock(thing);
}

uintptr_t rl_family_of(int index) {
    const thread *t = &lab.run.threads[index];
    if (t->sleeper) t = t->sleeper;
    while (t->parent != NO_THREAD) t = &lab.run.threads[t->parent];
    return (uintptr_t)&t->parent;
}

void rl_cancels_or_asks(const rl_operation *operation, rl_place place) {
    rl_point(operation, (const void *)rl_family_of(me->thread), place);
}

void rl_cancels_or_asks_task(const rl_operation *operation, const void *task, rl_place place) {
    for (int i = lab.run.thread_count - 1; i >= 0; i--)
        if (lab.run.threads[i].is_task && lab.run.threads[i].task == (uintptr_t)task)
            return (void)rl_point(operation, (const void *)rl_family_of(i), place);
    rl_meet_outside("cancels a task of which the lab does not know, or asks about it", place);
}

// MARK: - Children, which the runtime may cancel without a call that the lab could intercept

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
    const rl_step *last = t->last_step >= 0 ? &lab.steps[t->last_step] : NULL;
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *child = &lab.run.threads[i];
        if (!is_running_child(child) || child->is_cancelled) continue;
        child->is_cancelled = REAL(swift_task_isCancelled)((const void *)child->task);
        const uintptr_t family = rl_family_of(i);
        const bool is_known = last && last->kind == RL_CANCEL && last->address == family;
        if (!child->is_cancelled || is_known) continue;
        rl_runtime_did(RL_CANCEL, family, 0);
        for (int k = 0; k < lab.run.thread_count; k++)
            rl_change_for(&lab.run.threads[k], family, true);
    }
}

// MARK: - Priorities
//
// An actor takes the most urgent of the tasks that wait for it, and then the one that arrived first.
// If all tasks have the same priority, it makes no difference whether a task arrives right before
// or right after another one leaves the actor. Otherwise the task may overtake one that arrived
// earlier, but only if it arrives before the actor is left. So once a run has shown two priorities,
// the exploration starts over, and leaving an actor depends on arriving there.

/// The runtime keeps the priority of a job after its kind.
static uint8_t priority_of(uintptr_t task) {
    return ((const uint8_t *)task)[4 * sizeof(void *) + 1];
}

static bool differs_from_others(const thread *task) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        const thread *other = &lab.run.threads[i];
        if (other->is_task && other->task && other->priority != task->priority) return true;
    }
    return false;
}

void rl_note_priority(thread *task) {
    task->priority = priority_of(task->task);
    if (rl_exploration.scenario->matters.priorities || !rl_reduces()) return;
    if (!differs_from_others(task)) return;
    rl_exploration.summary.matters.priorities = true;
    lab.run.has_more_steps = true;
}

void rl_leaves_actor(uintptr_t actor) {
    if (actor && rl_exploration.scenario->matters.priorities) rl_runtime_did(RL_ARRIVE, actor, 0);
}

#ifdef __linux__

#define CURRENT_PRIORITY "$sScTss5NeverORszABRs_rlE15currentPriorityScPvgZ"

/// `Task.currentPriority`. It rises when a more urgent task waits for this one, which is no step.
NAMED(CURRENT_PRIORITY, SWIFT_FUNCTION uint8_t rl_current_priority(void)) {
    const rl_place place = RL_CALLER;
    const bool is_of_task = rl_active && rl_is_under_test(place.pc) && my_thread()->is_task;
    if (is_of_task &&
        (rl_exploration.scenario->matters.priorities || differs_from_others(my_thread())))
        rl_meet_outside("reads its priority, which rises when a more urgent task waits for it",
                        rl_place_in_source(place));
    return REAL_AT(rl_current_priority, CURRENT_PRIORITY)();
}

#endif

// MARK: - Handlers and locks of the library
//
// A stream registers a handler that is called when the task is cancelled, and takes locks. The
// runtime takes other locks for a task, too.

/// The return address of the call with which the library registers the handler of
/// `withTaskCancellationHandler`. A stream makes this call each time that a task asks for an
/// element. `Task.sleep` makes another one: it does not matter whether a task is cancelled before or
/// during its sleep.
static uintptr_t registration;

/// Whether a place is in the library's function that makes this call.
static bool registers(rl_place place) {
    const char *name = rl_name_of_function(place.pc);
    return name && strcmp(name, "swift_task_addCancellationHandler") == 0;
}

uintptr_t rl_learn_registration(rl_place place, uintptr_t stack) {
    worker here = {.thread = NO_THREAD, .stack_base = stack, .body = stack}, *before = me;
    me = &here;
    while (place.pc && !registers(place)) place = rl_caller_of(place);
    const uintptr_t pc = place.pc ? rl_caller_of(place).pc : 0;
    me = before;
    if (pc) registration = pc;
    return pc;
}

static bool is_registration_on_stack(rl_place place) {
    while (place.pc && place.pc != registration) place = rl_caller_of(place);
    return place.pc;
}

void rl_may_register(const void *task, rl_place place) {
    if (me->thread == NO_THREAD) return;
    const thread *t = my_thread();
    // No other thread can cancel a task of the scenario itself.
    const bool may_be_cancelled = me->thread >= lab.run.first_count && !t->is_of_runtime;
    if (!may_be_cancelled || t->task != (uintptr_t)task || t->is_registering) return;
    if (is_registration_on_stack(place))
        rl_cancels_or_asks(&rl_ask_task, rl_place_that_awaits(place));
}

/// At least the size of the runtime's object of a task.
enum { size_of_task = 256 };

void rl_runtime_locks(const rl_operation *take, void *mutex, bool is_point, rl_place place) {
    if (rl_owns(mutex)) return rl_took_again(mutex);
    thread *t = my_thread();
    const vector_clock before = t->clock;
    if (is_point || rl_is_held(mutex)) {
        rl_place from = rl_place_of_await(place);
        bool is_next = is_point && !from.pc && t->is_task;
        if (is_next) from = rl_place_that_awaits(place);
        // The call for a cancelled task cancels the stream first; it does not ask for an element.
        is_next = is_next && from.pc && !is_registration_on_stack(place);
        const uint32_t step = rl_point(take, mutex, from);
        if (is_next) lab.steps[step].element = RL_RECEIVES;
        if (!is_point) rl_note_runtime();
    } else {
        lock *l = rl_lock_at((uintptr_t)mutex);
        rl_runtime_did(RL_LOCK, (uintptr_t)mutex, rl_free_for((uintptr_t)mutex));
        // It adds, or removes, a record of the task, such as a handler to call on cancellation.
        if (t->is_task && (uintptr_t)mutex - t->task < size_of_task)
            rl_runtime_did(RL_ASK, rl_family_of(me->thread), 0);
        l->owner = (int8_t)me->thread;
        l->owner_pc = t->pc;
        t->locks_held++;
        rl_join_clock(&t->clock, &l->released);
        rl_is_released(l, false);
    }
    if (rl_has_fault(RL_FAULT_RUNTIME_LOCKS_ORDER_NOTHING)) t->clock = before;
}

void rl_runtime_unlocks(const void *mutex) {
    const thread *t = my_thread();
    if (t->kind != RL_LOCK || t->address != (uintptr_t)mutex) rl_note_runtime();
    rl_release_lock(my_thread(), (uintptr_t)mutex);
}

#endif
