// Which threads are enabled.

#include "Scheduler/enabled.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/locks.h"

/// Whether a sleeping task is the next one to wake up.
static bool is_next_to_wake(const thread *t) {
    for (int i = 0; i < lab.thread_count; i++) {
        const thread *other = &lab.threads[i];
        const bool sleeps = other->kind == RL_ELAPSE && other->work && !other->is_away && !other->finished;
        if (sleeps && other->time < t->time) return false;
    }
    return true;
}

static bool is_mere_attempt(uint8_t kind) {
    return kind == RL_TRY_LOCK || kind == RL_TRY_SHARED_LOCK || kind == RL_TRY_ACQUIRE ||
           kind == RL_TRY_AWAIT;
}

bool rl_can_go(const thread *t) {
    if (!t->started || t->finished || t->spinning || t->is_away) return false;
    if (t->kind == RL_ELAPSE && !is_next_to_wake(t)) return false;
    if (t->asleep && !rl_is_signalled(t)) return false;
    bool may_wait = t->waits_for || t->kind == RL_JOIN;
    return !may_wait || is_mere_attempt(t->kind) || rl_is_available(t);
}

#endif
