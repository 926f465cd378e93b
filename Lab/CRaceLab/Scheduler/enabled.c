#include "Scheduler/enabled.h"

#ifndef RL_WITHOUT_HOOKS

#include "Scheduler/operation.h"

bool rl_is_available(const thread *t) {
    return !t->operation->is_available || t->operation->is_available(t);
}

bool rl_is_woken(const thread *t) { return !t->operation->is_woken || t->operation->is_woken(t); }

bool rl_can_go(const thread *t) {
    if (!t->started || t->finished || t->spinning || t->is_away || !rl_is_woken(t)) return false;
    return t->operation->is_attempt || rl_is_available(t);
}

#endif
