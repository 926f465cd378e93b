// The priorities of tasks. An actor takes the most urgent of the tasks that wait for it, and then
// the one that arrived first.
//
// If all tasks have the same priority, it makes no difference whether a task arrives right before
// or right after another one leaves the actor. Otherwise the task may overtake one that arrived
// earlier, but only if it arrives before the actor is left. So once a run has shown two priorities,
// the exploration starts over, and leaving an actor depends on arriving there.

#include "Primitives/priorities.h"

#ifndef RL_WITHOUT_HOOKS

#include "Search/waking.h"

/// The runtime keeps the priority of a job after its kind.
static uint8_t priority_of(uintptr_t task) {
    return ((const uint8_t *)task)[4 * sizeof(void *) + 1];
}

void rl_note_priority(thread *task) {
    task->priority = priority_of(task->task);
    if (lab.scenario->has_priorities || !lab.scenario->reduce || lab.scenario->schedule) return;
    for (int i = 0; i < lab.thread_count; i++) {
        const thread *other = &lab.threads[i];
        if (!other->is_task || !other->task || other->priority == task->priority) continue;
        lab.summary.has_priorities = true;
        lab.has_more_steps = true;
    }
}

void rl_leaves_actor(uintptr_t actor) {
    if (actor && lab.scenario->has_priorities) rl_runtime_did(RL_ARRIVE, actor, 0);
}

#endif
