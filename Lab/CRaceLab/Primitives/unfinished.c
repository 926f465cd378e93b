// Work that threads wait for: that of groups and work items, and what is sent to the main queue.

#include "Primitives/unfinished.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/locks.h"
#include "Search/waking.h"
#include "State/shadow.h"

static bool has_finished(const thread *t) { return t->waits_for->count == 0; }

static void acquire_from_all(thread *t) { rl_join_clock(&t->clock, &t->waits_for->released); }

const rl_operation rl_await_work = {
    .kind = RL_AWAIT,
    .has_record = true,
    .is_available = has_finished,
    .carry_out = acquire_from_all,
    .help_from_outside =
        "waits for a group that was made outside of the scenario, where it may be left",
};
const rl_operation rl_try_to_await_work = {
    .kind = RL_TRY_AWAIT,
    .has_record = true,
    .is_attempt = true,
    .is_available = has_finished,
    .carry_out = acquire_from_all,
};

bool rl_is_counted(const void *group) { return rl_known_lock((uintptr_t)group) != NULL; }

void rl_count_unfinished(const void *group, int64_t count) {
    lock *l = rl_lock_at((uintptr_t)group);
    l->count = count;
    l->change = NULL;
}

int64_t rl_unfinished(const void *group) { return rl_lock_at((uintptr_t)group)->count; }

void rl_finished(const void *work) {
    lock *l = rl_lock_at((uintptr_t)work);
    thread *t = my_thread();
    rl_notice_unlocks(t);
    lab.run.free_before = rl_free_for(l->address);
    l->count = 0;
    l->released = t->clock;
    // No `rl_tick`: like a release, this is not a step.
    t->clock.at[me->thread]++;
    rl_did(me->thread, RL_LEAVE, l->address, true);
}

#endif
