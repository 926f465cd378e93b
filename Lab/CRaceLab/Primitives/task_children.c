// The children of tasks. The runtime may cancel them without a call that the lab could intercept.

#include "Primitives/task_children.h"

#ifndef RL_WITHOUT_HOOKS

#include "Primitives/next_symbol.h"
#include "Search/spinning.h"
#include "Search/waking.h"

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
