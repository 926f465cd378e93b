// The priorities of tasks. An actor takes the most urgent of the tasks that wait for it, and then
// the one that arrived first.
//
// If all tasks have the same priority, it makes no difference whether a task arrives right before
// or right after another one leaves the actor. Otherwise the task may overtake one that arrived
// earlier, but only if it arrives before the actor is left. So once a run has shown two priorities,
// the exploration starts over, and leaving an actor depends on arriving there.

#include "Primitives/task.h"

#ifndef RL_WITHOUT_HOOKS

#include "Primitives/next_symbol.h"
#include "Scheduler/outside.h"
#include "Search/waking.h"
#include "Symbols/call_sites.h"

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
    if (lab.scenario->has_priorities || !lab.scenario->reduce || lab.scenario->schedule) return;
    if (!differs_from_others(task)) return;
    lab.summary.has_priorities = true;
    lab.run.has_more_steps = true;
}

void rl_leaves_actor(uintptr_t actor) {
    if (actor && lab.scenario->has_priorities) rl_runtime_did(RL_ARRIVE, actor, 0);
}

#ifdef __linux__

#define CURRENT_PRIORITY "$sScTss5NeverORszABRs_rlE15currentPriorityScPvgZ"

/// `Task.currentPriority`. It rises when a more urgent task waits for this one, which is no step.
NAMED(CURRENT_PRIORITY, SWIFT_FUNCTION uint8_t rl_current_priority(void)) {
    const rl_place place = RL_CALLER;
    const bool is_of_task = rl_active && rl_is_under_test(place.pc) && my_thread()->is_task;
    if (is_of_task && (lab.scenario->has_priorities || differs_from_others(my_thread())))
        rl_meet_outside("reads its priority, which rises when a more urgent task waits for it",
                        rl_place_in_source(place));
    return REAL_AT(rl_current_priority, CURRENT_PRIORITY)();
}

#endif

#endif
