// What a step means for threads that sleep or spin until something is done.

#include "Search/waking.h"

#ifndef RL_WITHOUT_HOOKS

#include "Search/dependence.h"
#include "Search/reduction.h"
#include "Search/spinning.h"

/// Whether a thread sleeps no longer because something has been done. Its step counts as what it
/// turned out as: an exchange that fails has only read.
static bool wakes(int index, uint8_t kind, uintptr_t address) {
    return rl_are_dependent(kind, address, lab.sleeping_kinds[index], lab.threads[index].address);
}

/// Something was done at an address: a thread that sleeps because doing it later made no difference,
/// or, if it changes what is there, spins until another thread does it, wakes up.
void rl_did(int by, uint8_t kind, uintptr_t address, bool changes) {
    rl_note_effect(kind, address, lab.free_before);
    if (rl_is_about_tasks(kind)) lab.sleeping &= ~lab.sleeping_in_runtime;
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (i == by || t->finished) continue;
        if (has(lab.sleeping, i) && wakes(i, kind, address)) lab.sleeping &= ~set_of(i);
        if (changes) rl_change_for(t, address, rl_is_lasting(kind));
    }
    if (changes && rl_is_lasting(kind)) rl_forget_visits(&lab.threads[by]);
}

void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for) {
    rl_note_effect(kind, address, free_for);
    rl_note_runtime();
    for (int i = 0; i < lab.thread_count; i++)
        if (has(lab.sleeping, i) && wakes(i, kind, address)) lab.sleeping &= ~set_of(i);
    // What the step of such a thread does is known, but not to what: addresses differ from run to run.
    lab.sleeping &= ~lab.sleeping_in_runtime;
}

#endif
