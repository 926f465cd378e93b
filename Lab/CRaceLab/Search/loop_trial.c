// Tries whether a thread that seems to spin leaves its loop by itself.
//
// A thread that reaches a point again in the same state, while nothing has changed, is not
// scheduled until something changes. But the lab does not see all of its state: a loop may count
// its attempts in memory of the set-up, or in an object of a library, where the lab does not look.
// So the first time, the thread goes on alone for many rounds. If it leaves the loop, the loop ends
// by itself, and all its rounds are steps. In either case, that run is discarded, and the
// exploration starts over.

#include "Search/loop_trial.h"

#include "Platform/memory.h"
#include "Symbols/call_sites.h"

#include <sys/mman.h>

enum { MOST_LOOPS = 256, MOST_ROUNDS = 1000, MOST_CALLS = 32 };

/// Two loops that wait by calling the same function have the same code address, but other callers.
typedef struct {
    uintptr_t pc;
    uint64_t callers;
} loop_place;

/// A loop that was tried in an exploration and did not end.
typedef struct {
    uint64_t exploration, thread;
    loop_place at;
} waiting_loop;

static waiting_loop *tried;
static size_t tried_count, tried_capacity;

/// The places of loops that end by themselves. Shared with child processes: the parent replays what
/// they have found.
static struct {
    uint32_t count;
    loop_place at[MOST_LOOPS];
} * ending;

static struct {
    thread *of;  // NULL: there is no trial
    loop_place at;
    uint32_t rounds;             // how often the thread has been at that place …
    bool is_back;                // … and whether it has been there again in the same state
    uint32_t points;             // in the first round
    uint64_t calls[MOST_CALLS];  // the other callers from which that round came to this address
    uint32_t call_count;
    bool is_over;
    bool has_too_many;  // there is no room for another one
} trial;

RL_OF_RUN(trial)

__attribute__((constructor)) static void make_places(void) {
    const int access = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_ANONYMOUS;
    void *memory = mmap(NULL, sizeof *ending, access, flags, -1, 0);
    if (memory != MAP_FAILED) ending = memory;
}

bool rl_has_too_many_loops(void) { return trial.has_too_many; }

static bool is_trying(void) { return trial.of && !trial.is_over; }

void rl_end_run_in_trial(void) {
    if (is_trying()) ending->count--;
}

uint64_t rl_callers_of(const thread *t) {
    uint64_t callers = 0;
    if (!t->stack || !t->on) return callers;
    worker *const deciding = me;
    me = t->on;
    rl_place caller = {t->pc, t->stack};
    while ((caller = rl_caller_of(caller)).pc)
        callers = (callers ^ caller.pc) * 0x9E3779B97F4A7C15ull;
    me = deciding;
    return callers;
}

static loop_place place_of(const thread *t) { return (loop_place){t->pc, rl_callers_of(t)}; }

static bool are_same(loop_place a, loop_place b) { return a.pc == b.pc && a.callers == b.callers; }

static bool is_of_trial(const thread *t) {
    return t == trial.of && t->pc == trial.at.pc && are_same(place_of(t), trial.at);
}

bool rl_ends_by_itself(const thread *t) {
    for (uint32_t i = 0; ending && i < ending->count; i++)
        if (ending->at[i].pc == t->pc && are_same(ending->at[i], place_of(t)))
            return !is_trying() || !is_of_trial(t);
    return false;
}

static bool has_been_tried(const thread *t, loop_place place) {
    for (size_t i = 0; i < tried_count; i++) {
        const waiting_loop *l = &tried[i];
        if (l->exploration != rl_exploration.scenario->exploration || l->thread != t->origin.name)
            continue;
        if (are_same(l->at, place)) return true;
    }
    return false;
}

/// Until the opposite is known, the loop counts as one that ends: it might end by a crash.
static void begin(thread *t, loop_place place) {
    trial.has_too_many = ending->count == MOST_LOOPS || tried_count == MOST_LOOPS;
    if (trial.has_too_many) return;
    trial.of = t;
    trial.at = place;
    ending->at[ending->count++] = place;
}

static void end(bool has_ended) {
    lab.run.has_more_steps = trial.is_over = true;
    if (has_ended) return;
    ending->count--;
    MAKE_LASTING_ROOM(tried, tried_count, tried_capacity, 8);
    tried[tried_count++] =
        (waiting_loop){rl_exploration.scenario->exploration, trial.of->origin.name, trial.at};
}

/// Begins a trial, if the thread spins in a loop that has not been tried. A thread that others
/// disturb with locks (`is_vain`) may find something else when it is alone.
static void consider(thread *t) {
    if (!t->spinning || t->is_vain || !ending) return;
    if (tried_count > 0 && tried[0].exploration != rl_exploration.scenario->exploration)
        tried_count = 0;
    const loop_place place = place_of(t);
    if (!has_been_tried(t, place)) begin(t, place);
}

static bool is_in_first_round(void) { return !trial.is_back; }

/// Whether the thread has left the loop: it comes to the same code from a caller that is not part of
/// the first round. If there was no such round, the loop has ended at once, and the thread is in
/// another one.
static bool is_beyond(const thread *t) {
    if (is_in_first_round() && ++trial.points > MOST_ROUNDS) return true;
    if (t->pc != trial.at.pc || is_of_trial(t)) return false;
    const uint64_t callers = rl_callers_of(t);
    for (uint32_t i = 0; i < trial.call_count; i++)
        if (trial.calls[i] == callers) return false;
    if (!is_in_first_round() || trial.call_count == MOST_CALLS) return true;
    trial.calls[trial.call_count++] = callers;
    return false;
}

/// What is prescribed has to be repeated exactly.
static bool can_begin(void) {
    const bool is_free =
        !rl_exploration.current || lab.run.step_count >= rl_exploration.current->length;
    return is_free && !lab.run.looks_again && rl_exploration.scenario->learn;
}

void rl_try_loop(thread *t, bool is_in_loop) {
    if (trial.is_over) return;
    if (!trial.of) {
        if (can_begin()) consider(t);
    } else if (t == trial.of && (!is_in_loop || is_beyond(t))) {
        end(true);
    }
    if (t != trial.of) return;
    rl_set_spinning(t, false);
    if (trial.is_over || !is_of_trial(t)) return;
    // Not every state of a task is compared.
    trial.is_back |= trial.rounds > 0 && (t->repeats || t->is_task);
    if (++trial.rounds > MOST_ROUNDS) end(false);
}

bool rl_try_prescribed_loop(thread *t) {
    if (t->sleeper) t = t->sleeper;
    if (!trial.of && rl_exploration.scenario->schedule) consider(t);
    if (t != trial.of) return false;
    rl_set_spinning(t, false);
    return true;
}

bool rl_is_trying(void) { return trial.of; }

rl_thread_set rl_only_in_trial(void) {
    const thread *alarm = trial.of->alarm;
    return set_of((int)(trial.of - lab.run.threads)) |
           (alarm ? set_of((int)(alarm - lab.run.threads)) : 0);
}

bool rl_ends_trial(rl_thread_set enabled) {
    if (trial.is_over) return true;
    const bool is_stuck = !(enabled & rl_only_in_trial());
    const bool is_too_long = lab.run.step_count + 1 >= rl_exploration.scenario->max_steps;
    if (trial.of->finished || is_stuck || is_too_long)
        end(trial.of->finished || (is_too_long && is_in_first_round()));
    return trial.is_over;
}
