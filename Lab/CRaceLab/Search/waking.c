#include "Search/waking.h"

#include "Search/execution.h"
#include "Search/spinning.h"
#include "State/inputs.h"
#include "State/shadow.h"

/// Whether a thread is in the middle of an access on which an operation depends.
static bool is_within_dependent(const thread *t, uint8_t kind, uintptr_t address) {
    for (size_t i = 0; i < t->open_count; i++) {
        const open_access *o = &t->open[i];
        if (rl_are_dependent(kind, address, o->modifies ? RL_MODIFY : RL_READ, o->address))
            return true;
    }
    return false;
}

/// A wait for a condition also releases a lock, which it does not announce. After a failed attempt
/// to take that lock, it shows something else.
static void wake_owner_that_waits(uintptr_t address) {
    const lock *l = rl_known_lock(address);
    if (!l || l->owner == NO_THREAD || lab.run.threads[l->owner].kind != RL_WAIT) return;
    if (has(lab.run.sleeping, l->owner)) rl_wake(l->owner);
}

/// Removes the threads whose steps depend on an operation from the sleep set.
static void wake_dependent(uint8_t kind, uintptr_t address, bool is_in_runtime) {
    if (is_in_runtime || rl_is_about_tasks(kind)) {
        // A thread that a store has woken may read old values again, see `rl_did_store`.
        for (rl_thread_set rest = lab.run.sleeping_in_runtime; rest; rest &= rest - 1)
            lab.run.slept[__builtin_ctz(rest)] = 0;
    }
    for (int i = 0; i < lab.run.thread_count; i++)
        if (is_within_dependent(&lab.run.threads[i], kind, address)) rl_wake(i);
    if (!lab.run.sleeping && !lab.run.asleep_early) return;
    if (kind == RL_ATOMIC_READ) wake_owner_that_waits(address);
    rl_sleeper sleepers[RL_MAX_THREADS];
    for (int i = 0; i < lab.run.thread_count; i++)
        sleepers[i] = (rl_sleeper){lab.run.threads[i].address, lab.run.sleeping_kinds[i]};
    lab.run.sleeping = rl_still_asleep(lab.run.sleeping, sleepers, lab.run.sleeping_in_runtime,
                                       kind, address, is_in_runtime);
    if (is_in_runtime || rl_is_about_tasks(kind)) {
        // What an early attempt does in the runtime is not known.
        lab.run.sleeping &= ~lab.run.asleep_early;
        lab.run.asleep_early = 0;
    } else {
        lab.run.asleep_early = rl_still_asleep_early(lab.run.asleep_early, sleepers, kind, address);
    }
}

/// Records an operation at an address. Removes the threads whose steps depend on it from the sleep
/// set and, if the operation changes the value, wakes threads that spin on it.
void rl_did(int by, uint8_t kind, uintptr_t address, bool changes) {
    rl_note_effect(kind, address, lab.run.free_before);
    const bool shows_order = !(lab.run.free_before & RL_MANY);
    wake_dependent(shows_order ? kind : rl_without_order(kind), address, false);
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (i == by || t->finished) continue;
        // The arrival of a task at an actor does not change what others read.
        if (changes && kind != RL_ARRIVE) rl_change_for(t, address, rl_is_lasting(kind));
    }
    if (changes && rl_is_progress(&lab.run.threads[by], kind))
        rl_forget_visits(&lab.run.threads[by]);
}

void rl_did_read(uint8_t kind, uintptr_t address, uint32_t store, uint64_t expected) {
    rl_note_effect(kind, address, lab.run.free_before);
    rl_note_store_of_effect(store, expected);
}

void rl_did_store(int by, uintptr_t address, bool changes, uint32_t store, uint64_t replaced) {
    const rl_thread_set asleep = lab.run.sleeping;
    rl_did(by, RL_ATOMIC_WRITE, address, changes);
    rl_note_store_of_effect(store, replaced);
    // Of the threads that this wakes, only what they read now is new.
    for (rl_thread_set woken = asleep & ~lab.run.sleeping; woken; woken &= woken - 1) {
        const int i = __builtin_ctz(woken);
        if (lab.run.threads[i].address == address) lab.run.slept[i] = store - 1;
    }
}

void rl_did_within(const thread *t, const open_access *access, bool changes) {
    if (access->step == t->last_step) return;
    rl_did(me->thread, access->modifies ? RL_MODIFY : RL_READ, access->address, changes);
}

uint64_t rl_look_at_clock(void) {
    const uint64_t before = lab.run.time, passed = rl_read_clock();
    if (me->thread == NO_THREAD) return passed;
    if (lab.run.time > before)
        rl_runtime_did(RL_PASS_TIME, RL_CLOCK, 0);
    else if (my_thread()->clock_reads == 1)
        rl_runtime_did(RL_ATOMIC_READ, RL_CLOCK, 0);
    return passed;
}

/// A thread never wakes up exactly when it should.
static const uint64_t delay = 50 * 1000;

void rl_wait_until(uint64_t moment) {
    if (moment == 0) return;
    // Also if the moment has come: in another order it might come only now.
    rl_runtime_did(RL_REACH_TIME, RL_CLOCK, 0);
    const uint64_t forty_years = 40ull * 365 * 24 * 3600 * 1000 * 1000 * 1000;
    if (moment > forty_years) moment = forty_years;
    if (moment <= lab.run.time) return;
    for (int i = 0; i < lab.run.thread_count; i++)
        if (rl_waits_for_time(&lab.run.threads[i])) rl_forget_visits(&lab.run.threads[i]);
    lab.run.time = moment + delay;
}

void rl_let_pass(uint64_t nanoseconds) {
    lab.run.time += nanoseconds + delay;
    if (me->thread == NO_THREAD) return;
    my_thread()->clock.slept += nanoseconds;
    rl_runtime_did(RL_PASS_TIME, RL_CLOCK, 0);
}

void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for) {
    rl_note_effect(kind, address, free_for);
    rl_note_runtime();
    wake_dependent(kind, address, true);
}
