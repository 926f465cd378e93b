#include "Model/locks.h"

#include "Model/deferred_release.h"
#include "Platform/memory.h"
#include "Platform/stack.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#include <string.h>

// MARK: - Waiting and taking

bool rl_is_unowned(const thread *t) {
    const lock *l = t->waits_for;
    if (rl_exploration.scenario->faults & RL_FAULT_LOCKS_ALWAYS_FREE) return true;
    return l->owner == NO_THREAD && l->sharers == 0;
}

bool rl_has_no_writer(const thread *t) { return t->waits_for->owner == NO_THREAD; }

uint8_t rl_free_for(uintptr_t address) {
    const lock *l = rl_known_lock(address);
    if (!l) return RL_FREE_FOR_ONE | RL_FREE_FOR_READERS | RL_EMPTY;
    if (l->owner != NO_THREAD) return 0;
    const bool is_shared_here = me->thread >= 0 && has(l->sharers, me->thread);
    return (uint8_t)(RL_FREE_FOR_READERS | (l->sharers ? 0 : RL_FREE_FOR_ONE) |
                     (is_shared_here ? RL_SHARED_ALREADY : 0) |
                     (l->count > 1 + l->is_followed ? RL_MANY : 0) |
                     (l->count == 1 && l->is_followed ? RL_LAST_ONE : 0) |
                     (l->count > 0    ? RL_COUNTED
                      : l->count == 0 ? RL_EMPTY
                                      : 0));
}

void rl_own(thread *t) {
    lock *l = t->waits_for;
    l->owner = (int8_t)me->thread;
    l->owner_pc = t->pc;
    t->locks_held++;
    rl_join_clock(&t->clock, &l->released);
    rl_join_clock(&t->clock, &l->shared_released);
    rl_is_released(l, false);
}

void rl_share(thread *t) {
    lock *l = t->waits_for;
    if (l->shared_depth[me->thread]++ > 0) return;
    l->sharers |= set_of(me->thread);
    l->shared_pc[me->thread] = t->pc;
    t->locks_held++;
    rl_join_clock(&t->clock, &l->released);
    rl_is_released(l, true);
}

int rl_owner(const thread *t, uintptr_t *pc) {
    const lock *l = t->waits_for;
    if (l->owner != NO_THREAD) *pc = l->owner_pc;
    return l->owner;
}

int rl_owner_or_reader(const thread *t, uintptr_t *pc) {
    const lock *l = t->waits_for;
    if (l->owner != NO_THREAD || !l->sharers) return rl_owner(t, pc);
    const int reader = __builtin_ctz(l->sharers);
    *pc = l->shared_pc[reader];
    return reader;
}

// MARK: - Releasing

static void forget_held(thread *t, void *lock) {
    size_t kept = 0;
    for (size_t i = 0; i < t->held_count; i++)
        if (t->held[i].lock != lock) t->held[kept++] = t->held[i];
    t->held_count = kept;
}

/// Removes one entry of a lock that the thread has taken several times.
static void forget_once(thread *t, void *lock) {
    size_t at = t->held_count;
    while (at > 0 && t->held[at - 1].lock != lock) at--;
    if (at == 0) return;
    t->held_count--;
    memmove(&t->held[at - 1], &t->held[at], (t->held_count - at + 1) * sizeof *t->held);
}

static void no_longer_holds(thread *t, uintptr_t address) {
    RL_REQUIRE(t->locks_held > 0, "a thread releases more locks than it has taken");
    t->locks_held--;
    rl_holds_fewer(t);
    forget_held(t, (void *)address);
}

void rl_release_lock(thread *t, uintptr_t address) {
    int index = (int)(t - lab.run.threads);
    lock *l = rl_lock_at(address);
    if (l->owner == index && l->depth > 0) {
        l->depth--;
        return;
    }
    lab.run.free_before = rl_free_for(address);
    const bool is_readers = l->owner == NO_THREAD && has(l->sharers, index);
    if (l->owner != NO_THREAD) {
        // Some kinds of lock may be released by a thread other than the owner.
        no_longer_holds(&lab.run.threads[l->owner], address);
        l->owner = NO_THREAD;
        rl_note_release(t, l, false);
        if (!(rl_exploration.scenario->faults & RL_FAULT_NO_EDGE_FROM_UNLOCK))
            l->released = t->clock;
    } else if (is_readers) {
        if (--l->shared_depth[index] > 0) {
            forget_once(t, (void *)address);
            return;
        }
        l->sharers &= ~set_of(index);
        rl_join_clock(&l->shared_released, &t->clock);
        rl_note_release(t, l, true);
        no_longer_holds(t, address);
    } else {
        // The lock was taken before the threads began.
        l->released = t->clock;
    }
    // No `rl_tick`: a release is not a step.
    rl_advance(t);
    rl_did(index, is_readers ? RL_SHARED_UNLOCK : RL_UNLOCK, address, true);
}

void rl_unlocked(const void *address) {
    if (me->fate != STAYS) rl_give_up();
    my_thread()->accesses++;
    // Notice silent releases first, to keep the order of the releases.
    rl_notice_unlocks(my_thread());
    rl_release_lock(my_thread(), (uintptr_t)address);
    rl_clean_stack();
}

bool rl_owns(const void *address) {
    lock *l = rl_known_lock((uintptr_t)address);
    return l && l->owner == me->thread;
}

void rl_took_again(const void *address) {
    RL_REQUIRE(rl_owns(address), "another thread owns the lock");
    rl_lock_at((uintptr_t)address)->depth++;
}

void rl_holds(held_lock held) {
    thread *t = my_thread();
    MAKE_ROOM(t->held, t->held_count, t->held_capacity, 16);
    held.since = lab.run.step_count;
    t->held[t->held_count++] = held;
}

bool rl_holds_lock_of_thread(const thread *t) {
    for (size_t i = 0; i < t->held_count; i++)
        if (t->held[i].is_of_thread) return true;
    return false;
}

/// Returns the silently released lock that was taken last. Locks are assumed to be released in
/// reverse order.
static held_lock *silently_released(thread *t) {
    held_lock *last = NULL;
    for (size_t i = 0; i < t->held_count; i++) {
        held_lock *held = &t->held[i];
        if (!held->silent || (last && last->since > held->since)) continue;
        // A lock on the stack may be gone, and other things be there.
        const uint32_t owner = atomic_load((_Atomic uint32_t *)held->lock) & 0x3FFFFFFF;
        if (owner != me->number) last = held;
    }
    return last;
}

void rl_notice_unlocks(thread *t) {
    held_lock *held;
    while ((held = silently_released(t))) {
        uintptr_t address = (uintptr_t)held->lock;
        forget_held(t, held->lock);
        rl_release_lock(t, address);
    }
}

void rl_notice_own_lock(void) {
    if (!me->refused_at) return;
    rl_mark_place(me->refused_at, RL_OF_OWN_LOCK);
    me->refused_at = 0;
    lab.run.has_more_steps = true;
}
