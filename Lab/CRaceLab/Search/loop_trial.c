// Tries whether a thread that seems to spin leaves its loop by itself.
//
// A thread that reaches a point again in the same state, while nothing has changed, is not
// scheduled until something changes. But the lab does not see all of its state: a loop may count
// its attempts in memory of the set-up, or in an object of a library, where the lab does not look.
// So the first time, the thread goes on alone for many rounds. If it leaves the loop, the loop ends
// by itself, and all its rounds are steps. In either case, that run is discarded, and the
// exploration starts over.

#include "Search/loop_trial.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"

#include <sys/mman.h>

enum { MOST_LOOPS = 256, MOST_ROUNDS = 1000 };

typedef struct {
    uint64_t exploration, thread;
    uintptr_t pc;
} loop;

/// Loops that were tried in an exploration and did not end.
static loop *tried;
static size_t tried_count, tried_capacity;

/// The places of loops that end by themselves. Shared with child processes: the parent replays what
/// they have found.
static struct {
    uint32_t count;
    uintptr_t at[MOST_LOOPS];
} * ending;

static struct {
    thread *of;  // NULL: there is no trial
    uintptr_t pc;
    uint32_t rounds;
    bool is_over;
} trial;

__attribute__((constructor)) static void make_places(void) {
    const int access = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_ANONYMOUS;
    void *memory = mmap(NULL, sizeof *ending, access, flags, -1, 0);
    if (memory != MAP_FAILED) ending = memory;
}

void rl_forget_trial(void) {
    // Something else has ended the run.
    if (trial.of && !trial.is_over) ending->count--;
    trial.of = NULL;
    trial.is_over = false;
}

bool rl_ends_by_itself(uintptr_t pc) {
    if (trial.of && !trial.is_over && trial.pc == pc) return false;
    for (uint32_t i = 0; ending && i < ending->count; i++)
        if (ending->at[i] == pc) return true;
    return false;
}

static loop loop_of(const thread *t) {
    return (loop){lab.scenario->exploration, t->origin.name, t->pc};
}

static bool has_been_tried(loop l) {
    for (size_t i = 0; i < tried_count; i++) {
        const loop *other = &tried[i];
        if (other->exploration != l.exploration) continue;
        if (other->thread == l.thread && other->pc == l.pc) return true;
    }
    return false;
}

/// Replays, and what is prescribed, have to be repeated exactly.
static bool can_begin(void) {
    const rl_scenario *s = lab.scenario;
    const bool is_free = !lab.current || lab.step_count >= lab.current->length;
    return is_free && !lab.looks_again && s->learn && ending && ending->count < MOST_LOOPS;
}

/// Not in doubt: a thread whose attempt came before a release goes on anyway (`rl_look_for_loop`),
/// and one that others disturb with locks (`is_vain`) may find something else when it is alone.
static bool is_in_doubt(const thread *t) {
    return t->spinning && !t->is_vain && !t->missed && !has_been_tried(loop_of(t));
}

/// Until the opposite is known, the loop counts as one that ends: it might end by a crash.
static void begin(thread *t) {
    trial.of = t;
    trial.pc = t->pc;
    trial.rounds = 0;
    ending->at[ending->count++] = t->pc;
}

static void end(bool has_ended) {
    lab.has_more_steps = trial.is_over = true;
    if (has_ended) return;
    ending->count--;
    if (tried_count > 0 && tried[0].exploration != lab.scenario->exploration) tried_count = 0;
    MAKE_ROOM(tried, tried_count, tried_capacity, 8);
    tried[tried_count++] = loop_of(trial.of);
    tried[tried_count - 1].pc = trial.pc;
}

void rl_try_loop(thread *t, bool is_in_loop) {
    if (trial.is_over) return;
    if (!trial.of) {
        if (!is_in_doubt(t) || !can_begin()) return;
        begin(t);
    } else if (t == trial.of && !is_in_loop) {
        end(true);
    }
    if (t != trial.of) return;
    t->spinning = false;
    if (t->pc == trial.pc && !trial.is_over && ++trial.rounds > MOST_ROUNDS) end(false);
}

bool rl_is_trying(rl_thread_set *enabled, bool *is_over) {
    if (trial.of && !trial.is_over) {
        *enabled &= set_of((int)(trial.of - lab.threads));
        if (trial.of->finished)
            end(true);
        else if (!*enabled || lab.step_count + 1 >= lab.scenario->max_steps)
            end(false);
    }
    *is_over = trial.is_over;
    return trial.of != NULL;
}

#endif
