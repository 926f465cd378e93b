// What streams do for a task within the library: they take locks, and register a handler that is
// called when the task is cancelled. The runtime takes other locks for a task, too.

#include "Primitives/task.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/deferred_release.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Scheduler/points.h"
#include "Search/execution.h"
#include "Search/waking.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#include <string.h>

// MARK: - Cancellation handlers

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

// MARK: - Locks

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
            rl_runtime_did(RL_ASK, ALL_TASKS, 0);
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
