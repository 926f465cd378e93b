// Steps that depend on one another through reference counts alone. Whether a weak reference still
// finds its object, which thread runs a `deinit`, whether an object is known to be uniquely
// referenced: all of that is decided by retains and releases, which are no steps of their own.
//
// The reduction has to know of a step before it is made, so a step goes by its place in the code.
// During a run, what each step adds to the reference count of each object is written down. If an
// object turns out to be *observed* (somebody has a weak reference to it, asks whether it is unique,
// or its end makes steps), all places that change its count touch the same thing from then on. When a
// run finds such a place, the exploration begins anew with what is known now.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "laboratory.h"

#ifndef RL_UNDER_THREAD_SANITIZER

#include <stdlib.h>
#include <string.h>

/// What a step has done to the reference count of an object.
typedef struct {
    uintptr_t object;           // 0: of one that is not known; it has looked at the count
    uint32_t step;
    int32_t change;
} counting;

static counting *countings;
static size_t counting_count, counting_capacity;

/// Places in the code whose steps depend on one another: these or, where retains and releases cannot
/// be noticed, all of them.
static uintptr_t *places;
static size_t place_count, place_capacity;
static bool is_everywhere;

static bool is_listening(void) {
    // In a replay, too: what this leaves on the stack must be the same there.
    return rl_active && lab.scenario->reduce && me->fate == STAYS && my_thread()->last_step >= 0;
}

static bool is_observed_in_run;

void rl_begin_counts_of_run(void) {
    counting_count = 0;
    is_observed_in_run = false;
}

void rl_forget_counts(void) {
    place_count = 0;
    is_everywhere = false;
}

bool rl_touches_counts(uintptr_t pc) {
    if (is_everywhere) return true;
    for (size_t i = 0; i < place_count; i++)
        if (places[i] == pc) return true;
    return false;
}

static void write_down(uintptr_t object, int32_t change) {
    const uint32_t step = (uint32_t)my_thread()->last_step;
    for (size_t i = counting_count; i > 0 && countings[i - 1].step == step; i--) {
        if (countings[i - 1].object != object) continue;
        countings[i - 1].change += change;
        return;
    }
    MAKE_ROOM(countings, counting_count, counting_capacity, 256);
    countings[counting_count++] = (counting){object, step, change};
}

void rl_counts(const void *object, int change) {
    if (!object || !is_listening()) return;
    write_down((uintptr_t)object, change);
    rl_clean_stack();
}

void rl_is_observed(const void *object) {
    if (!me || !object || !lab.scenario->reduce) return;
    rl_cell_at((uintptr_t)object)->is_observed = true;
    is_observed_in_run = true;
}

void rl_begin_release(rl_release_in_progress *this, const void *object) {
    thread *t = my_thread();
    *this = (rl_release_in_progress){object, t->releases};
    t->releases = this;
}

void rl_end_release(const rl_release_in_progress *this) {
    if (me->fate == STAYS) my_thread()->releases = this->outer;
}

void rl_looks_at_counts(void) {
    if (!is_listening()) return;
    write_down(0, 0);
    rl_clean_stack();
}

/// A place that is found in the steps of this run. What a worker receives is shown elsewhere than
/// where it waits for it.
static bool add_place(const rl_step *step) {
    const uintptr_t pc = step->kind == RL_RECEIVE ? 0 : step->pc;
    if (rl_touches_counts(pc)) return false;
    MAKE_ROOM(places, place_count, place_capacity, 16);
    places[place_count++] = pc;
    return true;
}

bool rl_learn_counts(void) {
    bool has_learned = false;
    if (is_observed_in_run && !lab.listens_to_counts && !is_everywhere)
        is_everywhere = has_learned = true;
    for (size_t i = 0; i < counting_count; i++) {
        const counting *c = &countings[i];
        const bool looks = c->object == 0;
        if (!looks && (c->change == 0 || !rl_cell_at(c->object)->is_observed)) continue;
        if (add_place(&lab.steps[c->step])) has_learned = true;
    }
    return has_learned;
}

#endif
