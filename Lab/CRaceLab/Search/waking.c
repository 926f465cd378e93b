// The effect of a step on threads in the sleep set and on spinning threads.

#include "Search/waking.h"

#ifndef RL_WITHOUT_HOOKS

#include "Search/dependence.h"
#include "Search/reduction.h"
#include "Search/spinning.h"

/// Whether an operation removes a thread from the sleep set, because the thread's step depends on
/// it. The step counts as the kind that it was when executed: an exchange that fails has only read.
static bool wakes(int index, uint8_t kind, uintptr_t address) {
    return rl_are_dependent(kind, address, lab.sleeping_kinds[index], lab.threads[index].address);
}

/// Records an operation at an address. Removes the threads whose steps depend on it from the sleep
/// set and, if the operation changes the value, wakes threads that spin on it.
void rl_did(int by, uint8_t kind, uintptr_t address, bool changes) {
    rl_note_effect(kind, address, lab.free_before);
    if (rl_is_about_tasks(kind)) lab.sleeping &= ~lab.sleeping_in_runtime;
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (i == by || t->finished) continue;
        if (has(lab.sleeping, i) && wakes(i, kind, address)) lab.sleeping &= ~set_of(i);
        // The arrival of a task at an actor does not change what others read.
        if (changes && kind != RL_ARRIVE) rl_change_for(t, address, rl_is_lasting(kind));
    }
    if (changes && rl_is_progress(&lab.threads[by], kind)) rl_forget_visits(&lab.threads[by]);
}

void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for) {
    rl_note_effect(kind, address, free_for);
    rl_note_runtime();
    for (int i = 0; i < lab.thread_count; i++)
        if (has(lab.sleeping, i) && wakes(i, kind, address)) lab.sleeping &= ~set_of(i);
    // The kind of such a thread's step is known, but not its address: addresses differ between
    // runs.
    lab.sleeping &= ~lab.sleeping_in_runtime;
}

#endif
