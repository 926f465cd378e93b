// What threads wait for: locks with one owner or several readers, semaphores, conditions, the work
// of queues, and the end of other threads.

#include "Model/locks.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/deferred_release.h"
#include "Model/happens_before.h"
#include "Platform/memory.h"
#include "Platform/stack.h"
#include "Search/execution.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/shadow.h"

#include <string.h>

// MARK: - Waiting and taking

lock *rl_waits_for(rl_kind kind, uintptr_t address) {
    switch (kind) {
        case RL_LOCK:
        case RL_TRY_LOCK:
        case RL_SHARED_LOCK:
        case RL_TRY_SHARED_LOCK:
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
        case RL_RECEIVE:
        case RL_AWAIT:
        case RL_TRY_AWAIT:
            return rl_lock_at(address);
        default:
            return NULL;
    }
}

/// Returns an unfinished thread that `t` joins, or NO_THREAD.
static int next_to_join(const thread *t) {
    if (t->joins != NO_THREAD) return lab.threads[t->joins].finished ? NO_THREAD : t->joins;
    for (int i = 0; i < lab.thread_count; i++)
        if (lab.threads[i].team == t->address && !lab.threads[i].finished) return i;
    return NO_THREAD;
}

static void join(thread *t, thread *ended) {
    rl_note_join((int)(ended - lab.threads));
    rl_join_clock(&t->clock, &ended->clock);
    ended->released_count = 0;
}

bool rl_is_available(const thread *t) {
    const lock *l = t->waits_for;
    switch (t->kind) {
        case RL_LOCK:
        case RL_TRY_LOCK:
            if (lab.scenario->faults & RL_FAULT_LOCKS_ALWAYS_FREE) return true;
            return l->owner == NO_THREAD && l->sharers == 0 && !rl_is_in_line(t);
        case RL_SHARED_LOCK:
        case RL_TRY_SHARED_LOCK:
            return l->owner == NO_THREAD && !rl_is_in_line(t);
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
        case RL_RECEIVE:
            return l->count > 0;
        case RL_AWAIT:
        case RL_TRY_AWAIT:
            return l->count == 0;
        case RL_JOIN:
            return next_to_join(t) == NO_THREAD;
        default:
            return true;
    }
}

uint8_t rl_free_for(uintptr_t address) {
    const lock *l = rl_known_lock(address);
    if (!l) return RL_FREE_FOR_ONE | RL_FREE_FOR_READERS | RL_EMPTY;
    if (l->owner != NO_THREAD) return 0;
    return (uint8_t)(RL_FREE_FOR_READERS | (l->sharers ? 0 : RL_FREE_FOR_ONE) |
                     (l->count > 0 ? RL_COUNTED : l->count == 0 ? RL_EMPTY : 0));
}

static void take_for_oneself(int index, thread *t, lock *l) {
    l->owner = (int8_t)index;
    l->owner_pc = t->pc;
    t->locks_held++;
    rl_join_clock(&t->clock, &l->released);
    rl_join_clock(&t->clock, &l->shared_released);
    rl_is_released(l, false);
}

static void take_a_share(int index, thread *t, lock *l) {
    if (l->shared_depth[index]++ > 0) return;
    l->sharers |= set_of(index);
    l->shared_pc[index] = t->pc;
    t->locks_held++;
    rl_join_clock(&t->clock, &l->released);
    rl_is_released(l, true);
}

bool rl_take(int index, thread *t) {
    lock *l = t->waits_for;
    RL_REQUIRE(l || t->kind == RL_JOIN, "there is nothing to take");
    // A thread that slept on a condition takes its lock back even if its wait timed out.
    if (t->timed_out && !t->asleep) return false;
    if (t->early || !rl_is_available(t)) return false;
    switch (t->kind) {
        case RL_LOCK:
        case RL_TRY_LOCK:
            take_for_oneself(index, t, l);
            break;
        case RL_SHARED_LOCK:
        case RL_TRY_SHARED_LOCK:
            take_a_share(index, t, l);
            break;
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
            l->count--;
            rl_join_clock(&t->clock, &l->released);
            break;
        case RL_RECEIVE:
            l->count--;
            break;
        case RL_AWAIT:
        case RL_TRY_AWAIT:
            rl_join_clock(&t->clock, &l->released);
            break;
        case RL_JOIN:
            if (t->joins != NO_THREAD) join(t, &lab.threads[t->joins]);
            for (int i = 0; t->joins == NO_THREAD && i < lab.thread_count; i++)
                if (lab.threads[i].team == t->address) join(t, &lab.threads[i]);
            break;
        default:
            break;
    }
    return true;
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
    int index = (int)(t - lab.threads);
    lock *l = rl_lock_at(address);
    if (l->owner == index && l->depth > 0) {
        l->depth--;
        return;
    }
    lab.free_before = rl_free_for(address);
    if (l->owner != NO_THREAD) {
        // Some kinds of lock may be released by a thread other than the owner.
        no_longer_holds(&lab.threads[l->owner], address);
        l->owner = NO_THREAD;
        rl_note_release(t, l, false);
        if (!(lab.scenario->faults & RL_FAULT_NO_EDGE_FROM_UNLOCK)) l->released = t->clock;
    } else if (has(l->sharers, index)) {
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
    rl_did(index, RL_LOCK, address, true);
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

static void note_held(held_lock held) {
    thread *t = my_thread();
    MAKE_ROOM(t->held, t->held_count, t->held_capacity, 16);
    held.since = lab.step_count;
    t->held[t->held_count++] = held;
}

void rl_holds(void *lock, void (*release)(void *lock), bool is_of_thread) {
    note_held((held_lock){.lock = lock, .release = release, .is_of_thread = is_of_thread});
}

void rl_will_release_silently(void *word, void (*release)(void *word)) {
    note_held((held_lock){.lock = word, .release = release, .is_of_thread = true, .silent = true});
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
        if (atomic_load((_Atomic uint32_t *)held->lock) == 0) last = held;
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

// MARK: - Conditions

/// A signal that can wake any of several threads.
typedef struct {
    uintptr_t condition;
    rl_thread_set waiting;      // the threads that slept when it was sent
} signal_sent;

static signal_sent *signals;    // those that have not woken a thread yet
static size_t signal_count, signal_capacity;

void rl_forget_signals(void) { signal_count = 0; }

void rl_fell_asleep(const void *condition) {
    thread *t = my_thread();
    RL_REQUIRE(t->kind == RL_WAIT, "a thread falls asleep without waiting");
    t->asleep = true;
    t->asleep_on = (uintptr_t)condition;
    t->asleep_since = lab.step_count;
}

bool rl_is_signalled(const thread *t) {
    for (size_t k = 0; k < signal_count; k++) {
        const signal_sent *s = &signals[k];
        if (s->condition == t->asleep_on && has(s->waiting, (int)(t - lab.threads))) return true;
    }
    return false;
}

static rl_thread_set sleepers_on(uintptr_t condition) {
    rl_thread_set set = 0;
    for (int i = 0; i < lab.thread_count; i++) {
        const thread *t = &lab.threads[i];
        if (!t->finished && t->asleep && t->asleep_on == condition) set |= set_of(i);
    }
    return set;
}

static void remove_signal(size_t index) {
    signal_count--;
    memmove(&signals[index], &signals[index + 1],
            (signal_count - index) * sizeof *signals);
}

/// Removes a thread that no longer sleeps from all signals. A signal without any other sleeper is
/// lost.
static void forget_signals_for(int index) {
    for (size_t k = signal_count; k > 0; k--) {
        signal_sent *s = &signals[k - 1];
        if (!has(s->waiting, index)) continue;
        s->waiting &= ~set_of(index);
        if (!s->waiting) remove_signal(k - 1);
    }
}

void rl_is_awake(thread *t) {
    const bool uses_signal = !t->timed_out && !t->is_spurious;
    t->asleep = t->is_spurious = false;
    const int index = (int)(t - lab.threads);
    for (size_t k = 0; uses_signal && k < signal_count; k++) {
        if (!has(signals[k].waiting, index)) continue;
        remove_signal(k);
        break;
    }
    forget_signals_for(index);
}

static void wake(int index) {
    rl_note_order(index);
    thread *t = &lab.threads[index];
    t->asleep = false;
    forget_signals_for(index);
    // Its wait is over, so it waits for its lock without a time-out.
    t->timed = false;
    // A wake-up is a message to the thread: what it does next is not spinning, and running it is no
    // longer redundant.
    rl_forget_visits(t);
    lab.sleeping &= ~set_of(index);
}

/// Sends a signal that wakes the first of the sleeping threads to run.
static void signal_any(uintptr_t condition) {
    const rl_thread_set asleep = sleepers_on(condition);
    size_t sent = 0;
    for (size_t k = 0; k < signal_count; k++) sent += signals[k].condition == condition;
    if ((size_t)__builtin_popcount(asleep) <= sent) return;
    MAKE_ROOM(signals, signal_count, signal_capacity, 8);
    signals[signal_count++] = (signal_sent){condition, asleep};
    for (int i = 0; i < lab.thread_count; i++) {
        if (!has(asleep, i)) continue;
        rl_note_order(i);
        rl_forget_visits(&lab.threads[i]);
        lab.sleeping &= ~set_of(i);
    }
    rl_forget_visits(my_thread());
}

void rl_wake_sleepers(const void *condition, bool everybody) {
    if (!everybody && rl_gives(RL_LIBERTY_ANY_WAITER)) return signal_any((uintptr_t)condition);
    thread *first = NULL;
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (t->finished || !t->asleep || t->asleep_on != (uintptr_t)condition) continue;
        if (everybody) wake(i);
        if (!first || t->asleep_since < first->asleep_since) first = t;
    }
    if (first && !everybody) wake((int)(first - lab.threads));
    // A thread that has woken another has made progress; a signal without a sleeper has no effect.
    if (first) rl_forget_visits(my_thread());
}

// MARK: - Semaphores

static void (*signal_real_semaphore)(void *semaphore);

void rl_set_signaller(void (*signal)(void *semaphore)) { signal_real_semaphore = signal; }

bool rl_is_counted(const void *semaphore) { return rl_known_lock((uintptr_t)semaphore) != NULL; }

void rl_count(const void *semaphore, int64_t count) {
    lock *l = rl_lock_at((uintptr_t)semaphore);
    l->count = l->count_at_first = count;
    l->is_semaphore = true;
}

static void settle_semaphore(const lock *l) {
    if (!l->is_semaphore) return;
    for (int64_t n = l->count_at_first; n < l->count; n++)
        signal_real_semaphore((void *)l->address);
}

void rl_settle_semaphores(void) { rl_for_all_locks(settle_semaphore); }

// MARK: - Groups and awaited work

void rl_count_unfinished(const void *group, int64_t count) {
    lock *l = rl_lock_at((uintptr_t)group);
    l->count = count;
    l->is_semaphore = false;
}

int64_t rl_unfinished(const void *group) { return rl_lock_at((uintptr_t)group)->count; }

void rl_finished(const void *work) {
    lock *l = rl_lock_at((uintptr_t)work);
    thread *t = my_thread();
    rl_notice_unlocks(t);
    lab.free_before = rl_free_for(l->address);
    l->count = 0;
    l->released = t->clock;
    // No `rl_tick`: like a release, this is not a step.
    t->clock.at[me->thread]++;
    rl_did(me->thread, RL_LEAVE, l->address, true);
}

// MARK: - Queues

void rl_deliver(const void *place) {
    rl_note_effect(RL_SEND, (uintptr_t)place, rl_free_for((uintptr_t)place));
    rl_lock_at((uintptr_t)place)->count++;
}

rl_moment rl_end_of_work(const void *queue) {
    thread *t = my_thread();
    rl_notice_unlocks(t);
    // Releases after the last step can still show that the moment lies after it.
    bool shows = false, has_left = false;
    for (size_t k = 0; k < t->released_count; k++) {
        has_left = t->released[k].lock->address == (uintptr_t)queue;
        shows |= !has_left;
    }
    const uint32_t now = t->clock.at[me->thread];
    const bool told = t->told_in == lab.step_count && !shows;
    return (rl_moment){(int8_t)me->thread, told ? t->told : has_left ? now - 1 : now};
}

// Dispatch runs the work of a queue in order, and a thread that waits for a queue comes after work
// that was sent before it. "Before" means ordered, by locks, atomics and so on. If another thread
// sends work meanwhile, the search tries both orders.

void rl_stand_in_line(const void *queue, const void *work, bool exclusive) {
    lock *l = rl_lock_at((uintptr_t)queue);
    rl_explore_all_choices();
    MAKE_ROOM(l->line, l->line_count, l->line_capacity, 8);
    l->line[l->line_count++] = (in_line){.work = work, .exclusive = exclusive,
                                         .by = (int8_t)me->thread,
                                         .since = my_thread()->clock.at[me->thread]};
}

void rl_leave_line(const void *queue, const void *work) {
    lock *l = rl_lock_at((uintptr_t)queue);
    uint32_t at = 0;
    while (at < l->line_count && l->line[at].work != work) at++;
    if (at == l->line_count) return;
    l->line_count--;
    memmove(&l->line[at], &l->line[at + 1], (l->line_count - at) * sizeof *l->line);
}

void rl_come_for(const void *work) { my_thread()->comes_for = work; }

bool rl_is_in_line(const thread *t) {
    const lock *l = t->waits_for;
    RL_REQUIRE(l, "a thread waits for nothing");
    const bool exclusive = t->kind == RL_LOCK;
    for (uint32_t i = 0; i < l->line_count; i++) {
        const in_line *before = &l->line[i];
        if (before->work == t->comes_for) return false;
        if (!exclusive && !before->exclusive) continue;
        if (t->comes_for || t->clock.at[before->by] >= before->since) return true;
        if (t->stands_behind.at[before->by] >= before->since) return true;
    }
    return false;
}

void rl_come_later(const void *queue) {
    const lock *l = rl_lock_at((uintptr_t)queue);
    thread *t = my_thread();
    for (uint32_t i = 0; i < l->line_count; i++) {
        uint32_t *behind = &t->stands_behind.at[l->line[i].by];
        if (l->line[i].since > *behind) *behind = l->line[i].since;
    }
    // The thread reaches the same point again, but it has made progress.
    rl_forget_visits(t);
}

bool rl_could_come_later(const thread *t, int8_t *sender) {
    const lock *l = t->waits_for;
    if (!l || t->comes_for || (t->kind != RL_LOCK && t->kind != RL_SHARED_LOCK)) return false;
    for (uint32_t i = 0; i < l->line_count; i++) {
        if (t->kind != RL_LOCK && !l->line[i].exclusive) continue;
        *sender = l->line[i].by;
        return true;
    }
    return false;
}

// MARK: - Lock holders

int rl_holder(const thread *t, uintptr_t *pc) {
    *pc = 0;
    if (t->kind == RL_JOIN) return next_to_join(t);
    const lock *l = t->waits_for;
    bool is_lock = t->kind == RL_LOCK || t->kind == RL_SHARED_LOCK;
    if (!is_lock || !l) return NO_THREAD;
    if (l->owner != NO_THREAD) {
        *pc = l->owner_pc;
        return l->owner;
    }
    if (t->kind == RL_SHARED_LOCK || !l->sharers) return NO_THREAD;
    int reader = __builtin_ctz(l->sharers);
    *pc = l->shared_pc[reader];
    return reader;
}

#endif
