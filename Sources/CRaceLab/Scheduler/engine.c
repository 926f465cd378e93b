// Real threads, one at a time. The thread that runs decides, at every point, who goes next, and
// hands over only if that is another thread. When a run is over, the thread that ended it judges
// it, picks the next one and begins it; the caller of rl_explore only watches.
//
// All state in `lab` belongs to the thread that runs. The parkers through which one thread hands
// over to another are what makes the changes of the one visible to the other.
//
// Here is what happens at a point. Elsewhere: what is ordered (happens_before.c), for what threads
// wait (locks.c), what can come right before a release (deferred_release.c), what is still to be explored
// (search.c), on which threads of the operating system all this runs (workers.c), from the beginning
// of a run to its end (runs.c), and what if a thread does not hand over (watcher.c).

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "engine_internal.h"
#include "Child/child.h"

#ifndef RL_WITHOUT_HOOKS

#include <stdlib.h>
#include <string.h>

struct laboratory lab;

_Thread_local worker *me;
static _Thread_local int listening, ignoring;
_Thread_local int rl_active;

static void update_active(void) { rl_active = listening > 0 && ignoring == 0; }

void rl_listen(void) {
    if (me) me->body = RL_CALLER.stack;
    listening++;
    update_active();
}
void rl_deafen(void) { listening--; update_active(); }
void rl_ignore(void) { ignoring++; update_active(); }
void rl_attend(void) { ignoring--; update_active(); }
void rl_hear_no_more(void) { rl_active = listening = ignoring = 0; }

void rl_begin_own_work(void) {
    if (me) atomic_fetch_add(&lab.own_work, 1);
}

void rl_end_own_work(void) {
    if (me) atomic_fetch_sub(&lab.own_work, 1);
}

bool rl_on_lab_thread(void) { return me != NULL && me->thread >= 0; }
uint32_t rl_thread_number(void) { return me->number; }
bool rl_is_between_runs_here(void) { return me && me->thread == NO_THREAD; }
bool rl_stands_for_main_thread(void) { return me && me->is_main; }
bool rl_is_of_lab(void) { return me != NULL; }

bool rl_stand_for_main_thread(bool is_main) {
    const bool before = me->is_main;
    me->is_main = is_main;
    return before;
}

void rl_meet_outside(const char *what, rl_place place) {
    if (!lab.outside) {
        lab.outside = what;
        lab.outside_pc = place.pc;
    }
    // Otherwise the runtime may be in the middle of something that must come to its end.
    if (me->thread >= 0 && rl_active) rl_end_run_with(RL_OUTSIDE);
}

void *rl_grown(void *old, size_t used, size_t wanted, size_t size) {
    void *fresh = calloc(wanted, size);
    if (!fresh) abort();
    if (old) {
        memcpy(fresh, old, used * size);
        discard(old);
    }
    return fresh;
}

// MARK: - Outside of the scenario

void rl_made(const void *object) {
    // A global outlives the run, although it may be made in it.
    if (!me || ignoring > 0) return;
    MAKE_ROOM(lab.made, lab.made_count, lab.made_capacity, 64);
    lab.made[lab.made_count++] = object;
}

static bool was_made_in_run(uintptr_t address) {
    for (size_t i = 0; i < lab.made_count; i++)
        if (lab.made[i] == (const void *)address) return true;
    return false;
}

/// What code outside of the scenario could do for a thread that cannot go on; NULL: nothing.
static const char *outside_help(const thread *t) {
    if (t->is_task && rl_was_resumed_from_outside())
        return "waits for something that is done outside of the scenario";
    if (t->finished || !t->started || t->is_away) return NULL;
    if (t->spinning && rl_is_global(t->address))
        return "waits for a change of a global, which code outside of the scenario may make";
    if (t->asleep)
        return was_made_in_run(t->asleep_on) ? NULL
                                             : "waits for a condition that was made outside of the "
                                               "scenario, where it may be signalled";
    if (t->kind == RL_ACQUIRE && !was_made_in_run(t->address))
        return "waits for a semaphore that was made outside of the scenario, where it may be "
               "signalled";
    if (t->kind == RL_AWAIT && !was_made_in_run(t->address))
        return "waits for a group that was made outside of the scenario, where it may be left";
    return NULL;
}

/// Where all wait, but one of them for something that may come from outside, there is no deadlock.
static rl_status deadlock_or_outside(void) {
    for (int i = 0; i < lab.thread_count; i++) {
        const char *help = outside_help(&lab.threads[i]);
        if (!help) continue;
        lab.outside = help;
        lab.outside_pc = lab.threads[i].pc;
        return RL_OUTSIDE;
    }
    return RL_DEADLOCK;
}

// MARK: - Memory

bool rl_keep(void *memory) {
    if (!me || me->thread < 0 || me->fate != STAYS) return false;
    rl_freed(memory);
    MAKE_ROOM(lab.kept, lab.kept_count, lab.kept_capacity, 1024);
    lab.kept[lab.kept_count++] = memory;
    return true;
}

// MARK: - Who depends on whom

static bool only_reads(uint8_t kind) {
    return kind == RL_READ || kind == RL_ATOMIC_READ || kind == RL_AWAIT || kind == RL_TRY_AWAIT ||
           kind == RL_LOOK || kind == RL_ASK;
}

bool rl_are_dependent(uint8_t kind, uintptr_t address, uint8_t other, uintptr_t other_address) {
    if (kind == RL_FINISH && other == RL_FINISH) return false;
    return address == other_address && !(only_reads(kind) && only_reads(other));
}

/// Whether a thread sleeps no longer because something has been done. Its step counts as what it
/// turned out as: an exchange that fails has only read.
static bool wakes(int index, uint8_t kind, uintptr_t address) {
    return rl_are_dependent(kind, address, lab.sleeping_kinds[index], lab.threads[index].address);
}

/// Whether a thread that has done this is not where it was, and cannot be spinning: a lock that is
/// taken and released again is no such thing, nor is an attempt that failed.
static bool is_lasting(uint8_t kind) {
    switch (kind) {
        case RL_MODIFY:
        case RL_ATOMIC_WRITE:
        case RL_NOTE:
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
        case RL_SIGNAL:
        case RL_START:
        case RL_SEND:
        case RL_RECEIVE:
        case RL_ENTER:
        case RL_LEAVE:
        case RL_NOTIFY:
        case RL_ARRIVE:
        case RL_RESUME:
        case RL_FINISH:
        case RL_CANCEL:
        case RL_ELAPSE:
            return true;
        default:
            return false;
    }
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
        if (changes) rl_change_for(t, address, is_lasting(kind));
    }
    if (changes && is_lasting(kind)) rl_forget_visits(&lab.threads[by]);
}

void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for) {
    rl_note_effect(kind, address, free_for);
    rl_note_runtime();
    for (int i = 0; i < lab.thread_count; i++)
        if (has(lab.sleeping, i) && wakes(i, kind, address)) lab.sleeping &= ~set_of(i);
    // What the step of such a thread does is known, but not to what: addresses differ from run to run.
    lab.sleeping &= ~lab.sleeping_in_runtime;
}

// MARK: - Whose turn it is

static bool is_mere_attempt(uint8_t kind) {
    return kind == RL_TRY_LOCK || kind == RL_TRY_SHARED_LOCK || kind == RL_TRY_ACQUIRE ||
           kind == RL_TRY_AWAIT;
}

bool rl_can_go(const thread *t) {
    if (!t->started || t->finished || t->spinning || t->is_away) return false;
    if (t->kind == RL_ELAPSE && !rl_is_next_to_wake(t)) return false;
    if (t->asleep && !rl_is_signalled(t)) return false;
    bool may_wait = t->waits_for || t->kind == RL_JOIN;
    return !may_wait || is_mere_attempt(t->kind) || rl_is_available(t);
}

/// Whether a thread that does not want to wait forever can go on without what it waits for. One
/// that sleeps on a condition needs its lock back all the same.
static bool can_stop_waiting(const thread *t) {
    if (!t->started || t->finished || t->spinning || t->is_away || !t->timed) return false;
    return t->kind != RL_LOCK || !t->asleep || rl_is_available(t);
}

bool rl_gives(unsigned liberty) {
    const rl_scenario *s = lab.scenario;
    if (s->liberties & liberty) return true;
    // A schedule that is run as it is says itself when time is up.
    return liberty != RL_LIBERTY_ANY_WAITER && s->schedule && !s->beyond;
}

static bool could_time_out(const thread *t) {
    return can_stop_waiting(t) && rl_gives(RL_LIBERTY_TIME_OUTS);
}

static bool could_be_spurious(const thread *t) {
    return t->started && !t->finished && !t->spinning && t->asleep && rl_is_available(t) &&
           rl_gives(RL_LIBERTY_SPURIOUS);
}

static rl_thread_set those_who(bool (*can)(const thread *)) {
    rl_thread_set set = 0;
    for (int i = 0; i < lab.thread_count; i++)
        if (can(&lab.threads[i])) set |= set_of(i);
    return set;
}

static bool is_unfinished(const thread *t) { return !t->finished; }

static bool waits_for_work(const thread *t) {
    return t->started && !t->finished && !t->is_away && t->kind == RL_RECEIVE;
}

static void make_room_for_step(void) {
    if (lab.step_count < lab.step_capacity) return;
    uint32_t wanted = lab.step_capacity ? 2 * lab.step_capacity : 256;
    lab.steps = rl_grown(lab.steps, lab.step_count, wanted, sizeof *lab.steps);
    lab.fingerprints = rl_grown(lab.fingerprints, lab.step_count, wanted, sizeof *lab.fingerprints);
    lab.step_capacity = wanted;
}

static int lowest(rl_thread_set set) { return __builtin_ctz(set); }

/// Those of `enabled` whose attempt to take a lock could come before somebody's release.
static rl_thread_set those_who_can_be_early(rl_thread_set enabled) {
    rl_thread_set set = 0;
    int8_t holder;
    for (int i = 0; i < lab.thread_count; i++)
        if (has(enabled, i) && rl_can_be_early(&lab.threads[i], &holder)) set |= set_of(i);
    return set;
}

static bool could_come_later(const thread *t) {
    int8_t sender;
    return rl_can_go(t) && rl_could_come_later(t, &sender);
}

/// The choice that is prescribed for this step; NO_THREAD if it is ours.
static int prescribed(uint32_t step) {
    if (!lab.current || step >= lab.current->length) return NO_THREAD;
    return lab.current->choices[step];
}

/// Whether a schedule that must be run as it is says otherwise than the run does.
static bool misfits(int choice, rl_thread_set enabled) {
    if (!lab.scenario->schedule || lab.scenario->beyond) return false;
    if (lab.looks_again && choice == NO_THREAD) return false;
    return enabled ? !has(enabled, choice) : choice != NO_THREAD;
}

/// Whether the steps so far are those of an interleaving after which there was no process left.
static bool is_known_to_crash(void) {
    for (size_t i = 0; i < lab.scenario->crash_count; i++) {
        const rl_crash *crash = &lab.scenario->crashes[i];
        if (crash->length != lab.step_count) continue;
        uint32_t same = 0;
        while (same < crash->length && rl_choice(&lab.steps[same]) == crash->schedule[same]) same++;
        if (same == crash->length) return true;
    }
    return false;
}

int rl_decide(void) {
    rl_thread_set enabled = those_who(rl_can_go);
    rl_look_again(&enabled);
    rl_thread_set unfinished = enabled ? enabled : those_who(is_unfinished);
    bool time_is_up = !enabled && (enabled = those_who(can_stop_waiting));
    uint32_t step = lab.step_count;
    make_room_for_step();
    // The set of threads that can go is part of it: a thread that ends earlier than it did is not the same.
    lab.fingerprints[step] = (uint64_t)enabled << 16 | 1;
    if (step > 0)
        lab.fingerprints[step] ^=
            (lab.fingerprints[step - 1] ^ lab.steps[step - 1].pc ^
             (uint64_t)rl_choice(&lab.steps[step - 1]) << 56 ^
             (uint64_t)lab.steps[step - 1].kind << 48) * 0x9E3779B97F4A7C15ull;
    int choice = prescribed(step);
    uint8_t how = choice == NO_THREAD ? 0 : choice & RL_SPURIOUS;
    if (choice != NO_THREAD) choice = rl_chosen_thread((uint8_t)choice);
    rl_thread_set could_be_early = lab.looks_again ? 0 : those_who_can_be_early(enabled);
    // When no other thread can go on, time is up in any case.
    rl_thread_set could_stop = enabled && !time_is_up && !lab.looks_again ? those_who(could_time_out) : 0;
    rl_thread_set could_wake =
        enabled && !time_is_up && !lab.looks_again ? those_who(could_be_spurious) : 0;
    bool at_branch = lab.current && step + 1 == lab.current->length;
    uint64_t expected = at_branch ? lab.current->fingerprint : 0;
    // Which threads may stop waiting depends on all others: doing it later would make a difference.
    if (time_is_up) {
        lab.sleeping = 0;
        rl_everything_is_released();
    }
    // While another thread can go on, a wait for a queue is tried before and after what is sent to
    // it. When none can, it may have come after it, and then it cannot go on either.
    const bool is_late = enabled && !time_is_up && !lab.looks_again && enabled == those_who(could_come_later);
    if (is_late) {
        could_be_early |= enabled;
        lab.sleeping = 0;
    }
    if (at_branch) lab.sleeping = lab.current->sleeping;
    if (rl_reduces()) {
        if (at_branch) rl_fall_asleep_at_branch();
        rl_come_to_node(
            &(alternatives){enabled, could_be_early, could_stop, could_wake},
            time_is_up || is_late || lab.looks_again);
    }
    if (!enabled && unfinished && choice == NO_THREAD && unfinished == those_who(waits_for_work)) {
        // No thread is left but workers without work. They end, one by one: no steps.
        int worker = lowest(unfinished);
        lab.threads[worker].idle = true;
        return worker;
    }

    // A replay that follows another one's choices: they are the same if they can be made.
    rl_thread_set can_be_chosen = how == RL_TIME_OUT   ? could_stop
                                  : how == RL_SPURIOUS ? could_wake
                                                       : enabled;
    bool early = how == RL_EARLY;
    bool too_late = early && has(enabled, choice) && !has(could_be_early, choice);
    if (misfits(choice, can_be_chosen))
        lab.status = RL_MISFIT;
    else if (!enabled && choice != NO_THREAD && !lab.scenario->schedule)
        lab.status = RL_NOT_THE_SAME;
    else if (!enabled)
        lab.status = unfinished ? deadlock_or_outside() : RL_COMPLETE;
    else if (too_late || (choice != NO_THREAD && !has(can_be_chosen, choice)) ||
             (expected && expected != lab.fingerprints[step]))
        lab.status = lab.scenario->schedule ? RL_MISFIT : RL_NOT_THE_SAME;
    else if (step >= lab.scenario->max_steps)
        lab.status = RL_TOO_LONG;
    if (lab.status != RL_COMPLETE || !enabled) {
        lab.misfit_step = step;
        lab.misfit_thread = choice;
        lab.misfit_early = too_late;
        return NO_THREAD;
    }
    if (choice == NO_THREAD && rl_reduces()) {
        choice = rl_wished_choice();
        how = choice == NO_THREAD ? 0 : choice & RL_SPURIOUS;
        early = how == RL_EARLY;
        if (choice != NO_THREAD) choice = rl_chosen_thread((uint8_t)choice);
        if (how) lab.sleeping = 0;
    }
    if (choice == NO_THREAD) {
        rl_thread_set useful = enabled & ~lab.sleeping;
        if (!useful) {
            // Every continuation has been explored in another order. End the run.
            lab.redundant = true;
            if (step < lab.branch_limit) lab.branch_limit = step;
            lab.sleeping = 0;
            useful = enabled;
        }
        choice = has(useful, lab.last) ? lab.last : lowest(useful);
    }
    lab.steps[step] = (rl_step){.thread = (uint8_t)choice, .enabled = enabled,
                                .sleeping = lab.sleeping, .could_be_early = could_be_early,
                                .early = early, .before = NO_THREAD, .resumes = NO_THREAD, .holder = NO_THREAD,
                                .unprompted = how == RL_EARLY ? 0 : how,
                                .could_time_out = could_stop, .could_be_spurious = could_wake,
                                .preemptions = lab.preemptions};
    thread *t = &lab.threads[choice];
    t->timed_out = time_is_up || how == RL_TIME_OUT;
    t->is_spurious = how == RL_SPURIOUS;
    t->early = early && rl_can_be_early(t, &lab.steps[step].before);
    if (t->early) t->missed = t->waits_for;
    if (early && !t->early) {
        t->early = rl_could_come_later(t, &lab.steps[step].before);
        rl_everything_is_released();
    }
    if (choice != lab.last && has(enabled, lab.last)) lab.preemptions++;
    lab.last = choice;
    rl_follow_orders(choice);
    rl_record_steps(++lab.step_count);
    if (!is_known_to_crash()) return choice;
    lab.status = RL_CRASHES;
    lab.redundant = false;
    return NO_THREAD;
}

// MARK: - Points

/// `stepped` is called when the thread that made the step has come to its next point.
void rl_report_last_step(thread *t) {
    if (!t->unreported) return;
    t->unreported = false;
    lab.steps[t->last_step].locks_held = t->locks_held;
    if (!lab.scenario->stepped) return;
    rl_ignore();
    lab.scenario->stepped(lab.scenario->context, (uint32_t)t->last_step);
    rl_attend();
}

static void wait_for_turn(void) {
    rl_park(&me->turn, NULL);
    if (me->fate != STAYS) rl_give_up();
}

_Noreturn void rl_end_run_with(rl_status status) {
    lab.status = status;
    me->fate = ENDS_RUN;
    rl_give_up();
}

/// All threads come to their first point before any of them goes beyond it, and so does one that
/// is started later: only then is it known what it is about to do.
static bool came_to_first_point(thread *t, bool is_first) {
    if (is_first && t->starter) {
        worker *starter = t->starter;
        t->starter = NULL;
        rl_hand_over(starter);
        return true;
    }
    if (lab.started_count == lab.first_count) return false;
    rl_assign(rl_next_to_start());
    return true;
}

static void let_others_go_first(int index, thread *t, bool is_first) {
    if (came_to_first_point(t, is_first)) return wait_for_turn();
    if (rl_begin_next_job()) return wait_for_turn();
    int next = rl_decide();
    if (next == NO_THREAD) rl_end_run_with(lab.status);
    if (next == index) return;
    rl_pass_turn(next);
    wait_for_turn();
}

/// What a step means for the order of things. Returns whether it did what it was to do.
static bool carry_out(int index, thread *t, uint32_t step) {
    switch ((rl_kind)t->kind) {
        case RL_READ:
        case RL_MODIFY:
            rl_check_access(index, t, step);
            return true;
        case RL_LOCK:
        case RL_TRY_LOCK:
        case RL_SHARED_LOCK:
        case RL_TRY_SHARED_LOCK:
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
        case RL_RECEIVE:
        case RL_AWAIT:
        case RL_TRY_AWAIT:
        case RL_JOIN:
            return rl_take(index, t);
        case RL_ATOMIC_READ:
            rl_read_atomic(t, t->order);
            return true;
        case RL_ATOMIC_WRITE:
            rl_write_atomic(t, t->order, false);
            return true;
        case RL_SIGNAL: {
            lock *semaphore = rl_lock_at(t->address);
            semaphore->count++;
            rl_join_clock(&semaphore->released, &t->clock);
            rl_tick(index);
            return true;
        }
        case RL_ENTER:
            rl_lock_at(t->address)->count++;
            return true;
        case RL_LEAVE: {
            lock *group = rl_lock_at(t->address);
            group->count--;
            rl_join_clock(&group->released, &t->clock);
            rl_tick(index);
            return true;
        }
        case RL_SEND:
            rl_lock_at(t->address)->count++;
            return true;
        case RL_EXCHANGE:  // what it does is known after it
        case RL_NOTE:
        case RL_WAIT:
        case RL_WAKE:
        case RL_START:
        case RL_NOTIFY:
        case RL_ARRIVE:
        case RL_RESUME:
        case RL_FINISH:
        case RL_CANCEL:
        case RL_ASK:
        case RL_YIELD:
        case RL_ELAPSE:
        case RL_SUSPENDED:
        case RL_NEXT:
            return true;
    }
    return true;
}

static uint32_t point(rl_kind kind, const void *address, rl_place place, bool timed) {
    if (me->fate != STAYS) rl_give_up();
    atomic_fetch_add_explicit(&lab.progress, 1, memory_order_relaxed);
    int index = me->thread;
    thread *t = &lab.threads[index];
    if (t->locks_held) rl_notice_unlocks(t);
    rl_report_last_step(t);
    t->kind = (uint8_t)kind;
    t->address = (uintptr_t)address;
    t->pc = place.pc;
    t->timed = timed;
    t->waits_for = rl_waits_for(kind, t->address);
    // Here, not when its turn has come: it may wait forever.
    t->accesses++;
    bool is_first = !t->started;
    t->started = true;
    // Only the last release of an object runs code.
    for (const rl_release_in_progress *r = t->releases; r; r = r->outer) rl_is_observed(r->object);
    rl_look_for_spinning(t, place.stack);
    if (kind == RL_TRY_LOCK || kind == RL_TRY_SHARED_LOCK) rl_explore_all_choices();
    let_others_go_first(index, t, is_first);
    if (t->idle) return UINT32_MAX;
    return rl_announced_step(index);
}

uint32_t rl_announced_step(int index) {
    thread *t = &lab.threads[index];
    rl_record_phase(RL_IN_THREAD, index);
    uint32_t step = lab.step_count - 1;
    rl_step *record = &lab.steps[step];
    t->released_count = 0;
    lab.free_before = rl_free_for(t->address);
    record->kind = t->kind;
    record->address = t->address;
    record->pc = t->pc;
    bool done = carry_out(index, t, step);
    record->failed = !done || t->timed_out;
    record->locks_held = t->locks_held;
    if (t->asleep) rl_is_awake(t);
    t->last_step = (int32_t)step;
    t->unreported = true;
    // What came of an exchange is known after it; a try that fails has only looked.
    if (t->kind == RL_EXCHANGE) return step;
    rl_did(index, done ? t->kind : RL_ATOMIC_READ, t->address, done && !only_reads(t->kind));
    return step;
}

uint32_t rl_point(rl_kind kind, const void *address, rl_place place) {
    const uint32_t step = point(kind, address, place, false);
    rl_clean_stack();
    return step;
}

uint32_t rl_timed_point(rl_kind kind, const void *address, rl_place place) {
    return point(kind, address, place, true);
}

uint32_t rl_atomic_point(rl_kind kind, const void *address, rl_place place, int order) {
    my_thread()->order = order;
    const uint32_t step = point(kind, address, place, false);
    rl_clean_stack();
    return step;
}

bool rl_got_it(uint32_t step) { return !lab.steps[step].failed; }

void rl_exchanged(uint32_t step, bool done, int order, int order_of_failure) {
    lab.steps[step].failed = !done;
    if (done) return rl_swapped(true, order);
    thread *t = my_thread();
    rl_read_atomic(t, order_of_failure);
    rl_did(me->thread, RL_ATOMIC_READ, t->address, false);
    rl_clean_stack();
}

void rl_swapped(bool changes, int order) {
    int index = me->thread;
    thread *t = &lab.threads[index];
    rl_write_atomic(t, order, true);
    // A thread that writes what was there already publishes what it did before, and may be doing so
    // again and again.
    rl_did(index, RL_ATOMIC_WRITE, t->address, changes);
    rl_clean_stack();
}

uint32_t rl_note(const void *place) {
    if (!rl_active) return UINT32_MAX;
    return rl_point(RL_NOTE, place, RL_CALLER);
}

#endif
