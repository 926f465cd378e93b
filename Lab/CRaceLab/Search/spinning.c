// Detects spinning threads: threads that reach the same point in the same state, while nothing that
// they have read has changed. Such a thread is not scheduled until something changes.

#include "Search/spinning.h"

#include "Platform/memory.h"
#include "Search/execution.h"
#include "Search/loop_trial.h"
#include "Search/thread_state.h"
#include "Symbols/call_sites.h"

#include <string.h>

// MARK: - Iterations

/// Whether with this step a task goes to an actor or an executor. It may do that only to read
/// something, so it is no progress.
static bool is_way_of_task(const thread *t, uint8_t kind) {
    return kind == RL_ARRIVE || (kind == RL_SEND && t->is_enqueued);
}

bool rl_is_progress(const thread *t, uint8_t kind) {
    return rl_is_lasting(kind) && !is_way_of_task(t, kind);
}

/// Whether the next step can belong to a loop that only waits.
static bool may_spin(const thread *t) {
    if (rl_ends_by_itself(t)) return false;
    if (t->is_task) return !rl_is_progress(t, t->kind);
    return t->kind == RL_READ || t->kind == RL_ATOMIC_READ || t->waits_for ||
           t->kind == RL_EXCHANGE || t->kind == RL_WAKE || t->kind == RL_QUEUE_UP ||
           t->kind == RL_SHARED_QUEUE_UP;
}

/// Finds the visit to this point. `callers`: of the thread, if the visits to this point differ in
/// that; otherwise 0.
static size_t find_visit(const thread *t, uint8_t what, uint64_t *callers) {
    size_t at = 0;
    for (*callers = 0; at < t->visit_count; at++) {
        const visit *v = &t->visits[at];
        if (v->address != t->address || v->pc != t->pc || v->what != what) continue;
        if (v->callers && !*callers) *callers = rl_callers_of(t);
        if (v->callers == *callers || !v->callers) break;
    }
    return at;
}

typedef enum { NOTHING, LOCKS_ONLY, SOMETHING } change;

static change change_since(const thread *t, size_t at) {
    change seen = NOTHING;
    for (; at < t->visit_count; at++) {
        if (t->visits[at].is_changed_for_good) return SOMETHING;
        if (t->visits[at].is_changed) seen = LOCKS_ONLY;
    }
    return seen;
}

/// The visit is no longer the last one to its point. What has changed since then has also changed
/// since the visits before it.
static void hand_change_back(thread *t, size_t at) {
    if (at == 0) return;
    const visit *later = &t->visits[at];
    t->visits[at - 1].is_changed |= later->is_changed;
    t->visits[at - 1].is_changed_for_good |= later->is_changed_for_good;
}

/// Whether the task is on an actor to which it has come in one of the visits from this one on. There
/// it would block the tasks that it waits for.
static bool has_come_to_actor(const thread *t, size_t first) {
    if (!t->is_task || !t->actor || t->kind == RL_YIELD) return false;
    for (size_t k = first; k < t->visit_count; k++)
        if (t->visits[k].what == RL_ARRIVE) return true;
    return false;
}

static visit_moment moment_now(const thread *t) {
    return (visit_moment){t->accesses, t->old_reads, t->locks_held};
}

/// In a round, a thread may come several times to one point, in other states: it looks a few times,
/// and yields then. So the state is also compared with an earlier one, which becomes younger less
/// and less often (Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980).
static bool is_as_earlier(const thread *t, visit *v, change seen) {
    earlier_state *e = &v->earlier;
    const bool is_changed = e->changes.for_good != t->changes.for_good;
    if (seen == SOMETHING || is_changed || e->block_count != t->block_count) e->most = 0;
    if (seen == SOMETHING) return false;
    if (e->most && e->fingerprint == v->fingerprint) return true;
    if (e->most && ++e->visits < e->most) return false;
    *e = (earlier_state){.moment = moment_now(t),
                         .fingerprint = v->fingerprint,
                         .block_count = t->block_count,
                         .changes = t->changes,
                         .most = e->most ? 2 * e->most : 1};
    return false;
}

/// The index of the first visit of a round that ends at that visit.
static size_t beginning_of_round(const thread *t, size_t at, const visit_moment *began) {
    while (at > 0 && t->visits[at - 1].moment.accesses > began->accesses) at--;
    return at;
}

static void note_first_visit(thread *t, uint8_t what, uint64_t callers, const state *s) {
    MAKE_ROOM(t->visits, t->visit_count, t->visit_capacity, 16);
    visit *v = &t->visits[t->visit_count++];
    *v = (visit){.address = t->address,
                 .pc = t->pc,
                 .what = what,
                 .callers = callers,
                 .recent = t->block_count,
                 .block_count = t->block_count,
                 .moment = moment_now(t)};
    rl_keep_state(v, s);
}

/// The thread has read an old value in a loop in which it has changed nothing. The runs in which it
/// reads a newer value at once show the same, but what is prescribed may exclude them.
static void is_redundant(thread *t) {
    t->is_vain = false;
    rl_set_spinning(t, false);
    if (rl_exploration.scenario->schedule ||
        (rl_exploration.current && rl_exploration.current->sampler))
        return;
    lab.run.redundant = true;
    if (lab.run.step_count < lab.run.branch_limit) lab.run.branch_limit = lab.run.step_count;
}

static bool is_attempt(const thread *t) {
    return t->timed || t->kind == RL_TRY_LOCK || t->kind == RL_TRY_SHARED_LOCK ||
           t->kind == RL_TRY_ACQUIRE;
}

/// Returns whether the thread may be in the same loop as before: it has been at this point, or does
/// nothing here that lasts.
static bool look_for_spinning(thread *t, uintptr_t stack, const uint64_t *registers) {
    // Where a task comes to an actor it is compared, as it may do that in each round.
    if (is_way_of_task(t, t->kind) && !(t->is_task && t->kind == RL_ARRIVE)) return true;
    if (!may_spin(t)) {
        lab.run.looks_in_vain = false;
        return !rl_is_progress(t, t->kind);
    }
    const state s = rl_state_now(t, stack, registers);
    // One library call may be several steps: an attempt, and then a wait.
    const uint8_t what = t->kind | (t->asleep ? 0x80 : 0);
    uint64_t callers;
    const size_t at = find_visit(t, what, &callers);
    if (at == t->visit_count) {
        lab.run.looks_in_vain = false;
        note_first_visit(t, what, callers, &s);
        return false;
    }
    visit now = t->visits[at];
    change seen = change_since(t, at);
    // If something has changed for good, only a thread that reads old values, or that others may
    // cause to fail, asks for more.
    const bool is_compared = seen != SOMETHING || t->chooses_value ||
                             now.moment.old_reads != t->old_reads || is_attempt(t);
    const bool is_same = is_compared && rl_is_as_before(&now, &s);
    if (!is_compared) rl_keep_state(&now, &s);
    const bool is_longer = !is_same && is_as_earlier(t, &now, seen);
    const visit_moment began = is_longer ? now.earlier.moment : now.moment;
    // The same code may be called at two places of a round.
    if (is_compared && !is_same && !now.callers) now.callers = rl_callers_of(t);
    t->repeats = is_same || is_longer;
    if (is_longer) seen = now.earlier.changes.all != t->changes.all ? LOCKS_ONLY : NOTHING;
    if (!t->repeats) seen = SOMETHING;
    // In a critical section that it entered in this iteration, and in line for a queue, the thread
    // would block the threads it waits for.
    const size_t first = beginning_of_round(t, at, &began);
    const bool may_stop = t->locks_held <= began.least_held && !t->comes_for &&
                          !has_come_to_actor(t, is_longer ? first : at + 1);
    rl_set_spinning(t, may_stop && seen != SOMETHING);
    t->is_vain = t->spinning && seen == LOCKS_ONLY;
    if (t->repeats && began.old_reads != t->old_reads) is_redundant(t);
    t->round = t->visit_count - first;
    t->round_began = began.accesses;
    now.moment = moment_now(t);
    now.recent = now.block_count;
    now.block_count = t->block_count;
    now.is_changed = now.is_changed_for_good = false;
    hand_change_back(t, at);
    memmove(&t->visits[at], &t->visits[at + 1], (t->visit_count - at - 1) * sizeof now);
    t->visits[t->visit_count - 1] = now;
    return true;
}

void rl_look_for_spinning(thread *t, uintptr_t stack, const uint64_t *registers) {
    t->repeats = false;
    rl_try_loop(t, look_for_spinning(t, stack, registers));
}

/// Whether the last round of a spinning thread has a visit of such a kind.
static bool has_in_round(const thread *t, bool (*is_such)(const visit *)) {
    if (!t->spinning) return false;
    for (size_t k = t->visit_count - t->round; k < t->visit_count; k++)
        if (is_such(&t->visits[k])) return true;
    return false;
}

static bool reads(const visit *v) {
    return v->what == RL_READ || v->what == RL_ATOMIC_READ || v->what == RL_EXCHANGE;
}

static bool reads_global(const visit *v) { return reads(v) && rl_is_global(v->address); }

static bool does_more_than_look(const visit *v) {
    return !reads(v) && v->what != RL_ASK && v->what != RL_YIELD && v->what != RL_ARRIVE;
}

bool rl_is_busy(const thread *t) { return has_in_round(t, does_more_than_look); }

bool rl_spins_on_global(const thread *t) { return has_in_round(t, reads_global); }

static void holds_fewer_since(visit_moment *m, const thread *t) {
    if (m->least_held > t->locks_held) m->least_held = t->locks_held;
}

void rl_holds_fewer(thread *t) {
    for (size_t k = 0; k < t->visit_count; k++) {
        holds_fewer_since(&t->visits[k].moment, t);
        holds_fewer_since(&t->visits[k].earlier.moment, t);
    }
}

void rl_runs_its_loop_again(thread *t) {
    for (size_t k = 0; k < t->visit_count; k++) t->visits[k].is_changed_for_good = true;
    t->changes.for_good++;
}

void rl_forget_visits(thread *t) {
    t->visit_count = 0;
    t->copied_count = 0;
    t->is_vain = false;
    rl_set_spinning(t, false);
}

void rl_attempt_fails(const thread *attempting) {
    if (attempting->repeats) return;
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (t != attempting && !t->finished) rl_change_for(t, attempting->address, true);
    }
}

void rl_has_missed_release(thread *t) {
    for (size_t k = 0; k < t->visit_count; k++) t->visits[k].is_changed = true;
    t->changes.all++;
    t->spinning = false;
}

void rl_change_for(thread *t, uintptr_t address, bool is_lasting) {
    for (size_t k = 0; k < t->visit_count; k++) {
        visit *v = &t->visits[k];
        // That another task yields as well is no change.
        if (v->address != address || v->what == RL_YIELD) continue;
        v->is_changed = true;
        v->is_changed_for_good |= is_lasting;
        t->changes.all++;
        t->changes.for_good += is_lasting;
        const bool is_of_round = k + t->round >= t->visit_count;
        if (!t->spinning || !is_of_round || (t->is_vain && !is_lasting)) continue;
        rl_note_order((int)(t - lab.run.threads));
        if (t->is_away && t->alarm) rl_note_order((int)(t->alarm - lab.run.threads));
        t->is_vain = false;
        rl_set_spinning(t, false);
    }
}
