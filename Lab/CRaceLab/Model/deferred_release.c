// A release is not a step of its own: it belongs to the step before it. What another thread does
// right before the release could as well come right after it, with one exception: an attempt to
// take the same lock fails before the release and succeeds after it. So the engine remembers a
// thread's releases until its next step, or until something shows that they must have happened.

#include "Model/deferred_release.h"

#include "Platform/memory.h"
#include "Search/execution.h"
#include "Search/waking.h"

#include <string.h>

void rl_note_release(thread *t, lock *l, bool shared) {
    // A wait releases its lock atomically with falling asleep.
    if (t->asleep) return;
    MAKE_ROOM(t->released, t->released_count, t->released_capacity, 16);
    t->released[t->released_count++] =
        (deferred_release){l, t->clock.at[t - lab.run.threads], shared};
}

/// Drops a thread's first `count` releases, because the last of them must have happened.
static void have_happened(thread *t, size_t count) {
    t->released_count -= count;
    memmove(t->released, t->released + count, t->released_count * sizeof *t->released);
}

void rl_is_released(const lock *l, bool for_reader) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        for (size_t k = t->released_count; k > 0; k--) {
            const deferred_release *r = &t->released[k - 1];
            if (r->lock != l || (r->shared && for_reader)) continue;
            have_happened(t, k);
            break;
        }
    }
}

void rl_everything_is_released(void) {
    for (int i = 0; i < lab.run.thread_count; i++) lab.run.threads[i].released_count = 0;
}

bool rl_could_precede_release(const thread *t, int8_t *holder) {
    bool for_reader = t->kind == RL_TRY_SHARED_LOCK;
    if (!t->started || t->finished || (t->kind != RL_TRY_LOCK && !for_reader)) return false;
    for (int i = 0; i < lab.run.thread_count; i++) {
        const thread *other = &lab.run.threads[i];
        if (other == t) continue;
        for (size_t k = 0; k < other->released_count; k++) {
            const deferred_release *r = &other->released[k];
            if (r->lock != t->waits_for || (r->shared && for_reader)) continue;
            if (t->clock.at[i] >= r->since) continue;
            *holder = (int8_t)i;
            return true;
        }
    }
    return false;
}

void rl_misses_release(int by, int holder) {
    const lock *missed = lab.run.threads[by].waits_for;
    rl_note_effect(RL_ATOMIC_READ, rl_missed_releases_of(missed->address), 0);
    rl_wake(holder);
    for (int i = 0; i < lab.run.thread_count; i++)
        if (lab.run.threads[i].missed == missed) rl_wake(i);
    const thread *t = &lab.run.threads[holder];
    size_t k = 0;
    while (k < t->released_count && t->released[k].lock != missed) k++;
    lab.run.free_before = RL_FREE_FOR_ONE | RL_FREE_FOR_READERS;
    for (k++; k < t->released_count; k++)
        rl_did(by, RL_ATOMIC_READ, t->released[k].lock->address, false);
}
