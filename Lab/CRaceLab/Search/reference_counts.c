// Dependences through reference counts alone. Retains and releases decide whether a weak reference
// still finds its object, which thread runs a `deinit`, and whether an object is uniquely
// referenced. But they are not steps of their own.
//
// An object is *observed* if a thread loads it through a weak reference, asks whether it is
// uniquely referenced, or if its deinitialization makes steps. Observed objects matter only if they
// could end while the threads run: if some reference keeps the object alive all the time, the order
// of the other retains and releases decides nothing. Otherwise a step that removes references
// depends on other such steps, and on those that observe the object.
//
// Which objects matter is known after a run. During a run, sleep sets use what earlier runs have
// shown: the classes of observed objects, and the places in the code whose steps change their
// counts. When a run adds to that, the exploration starts over.

#include "Search/reference_counts.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"
#include "Platform/stack.h"
#include "State/shadow.h"

#include <dlfcn.h>

// MARK: - Current run

/// What is known about the reference count of an object.
typedef struct {
    uintptr_t object, type;
    bool is_observed, asks_for_uniqueness, is_counted;
    int64_t at_first;           // the number of references before the first change
    int32_t change[RL_MAX_THREADS], least[RL_MAX_THREADS];  // each thread's sum, and its minimum
} observed;

/// The effect of a step on the reference count of an object.
typedef struct {
    size_t of;                  // the index of the object
    uint32_t step;
    // The sum of the thread's changes: before the step, after it, and its minimum in between. A
    // `deinit` in the step may retain its object again.
    int32_t before, after, least;
    bool looks;
} counting;

static observed *objects;
static size_t object_count, object_capacity;
static counting *countings;
static size_t counting_count, counting_capacity;

// MARK: - All runs of the exploration

/// Steps at this place in the code change the count of an object of this type, or only read it.
typedef struct {
    uintptr_t pc, type;
    bool changes;
} place;

static uintptr_t *types;
static size_t type_count, type_capacity;
static place *places;
static size_t place_count, place_capacity;

/// Retains and releases cannot be observed on this platform: any two steps may depend on one
/// another.
static bool is_everywhere;

void rl_begin_counts_of_run(void) { object_count = counting_count = 0; }

void rl_forget_counts(void) {
    type_count = place_count = 0;
    is_everywhere = false;
}

static bool is_of_interest(uintptr_t type) {
    for (size_t i = 0; i < type_count; i++)
        if (types[i] == type) return true;
    return false;
}

bool rl_counts_at(uintptr_t pc) {
    if (is_everywhere) return true;
    for (size_t i = 0; i < place_count; i++)
        if (places[i].pc == pc) return true;
    return false;
}

static bool does_at(uintptr_t pc, uintptr_t type, bool changes) {
    for (size_t i = 0; i < place_count; i++)
        if (places[i].pc == pc && places[i].type == type && places[i].changes == changes) return true;
    return false;
}

bool rl_depends_on_count(uintptr_t pc, uint8_t kind, uintptr_t counted) {
    if (is_everywhere) return true;
    const uintptr_t type = objects[rl_cell_at(counted)->counted - 1].type;
    return does_at(pc, type, true) || (kind == RL_COUNT && does_at(pc, type, false));
}

// MARK: - Events on the threads

static bool is_listening(void) {
    // Also in a replay, so that the same remnants are left on the stack.
    return rl_active && lab.scenario->reduce && me->fate == STAYS && my_thread()->last_step >= 0;
}

/// A lost thread may come back during another exploration.
static bool is_followed_here(void) { return me && me->fate != IS_LOST && lab.scenario->reduce; }

static size_t number_of(uintptr_t object) {
    cell *c = rl_cell_at(object);
    if (c->counted > 0) return c->counted - 1;
    MAKE_ROOM(objects, object_count, object_capacity, 64);
    objects[object_count] = (observed){.object = object, .type = *(const uintptr_t *)object};
    c->counted = ++object_count;
    return object_count - 1;
}

int64_t rl_references_to(const void *object) {
    static size_t (*count)(const void *);
    if (!count) count = (size_t (*)(const void *))dlsym(RTLD_DEFAULT, "swift_retainCount");
    return count ? (int64_t)count(object) : 0;
}

/// Wakes the threads that sleep at a place which depends on this count.
static void wake_because_of(uintptr_t object, uint8_t kind) {
    for (int i = 0; i < lab.thread_count; i++)
        if (has(lab.sleeping, i) && rl_depends_on_count(lab.threads[i].pc, kind, object))
            lab.sleeping &= ~set_of(i);
}

static void write_down(size_t of, int32_t change, bool looks) {
    const uint32_t step = (uint32_t)my_thread()->last_step;
    if (change < 0 || objects[of].asks_for_uniqueness || looks)
        wake_because_of(objects[of].object, looks ? RL_LOOK : RL_COUNT);
    for (size_t i = counting_count; !looks && i > 0 && countings[i - 1].step == step; i--) {
        if (countings[i - 1].of != of || countings[i - 1].looks) continue;
        counting *c = &countings[i - 1];
        c->after += change;
        if (c->after < c->least) c->least = c->after;
        return;
    }
    MAKE_ROOM(countings, counting_count, counting_capacity, 256);
    const int32_t after = objects[of].change[me->thread], before = after - change;
    countings[counting_count++] =
        (counting){of, step, before, after, change < 0 ? after : before, looks};
}

/// `before`: the number of references before the change.
static void note_change(uintptr_t object, int32_t change, int64_t before) {
    const size_t of = number_of(object);
    observed *o = &objects[of];
    if (!o->is_counted) o->at_first = before;
    o->is_counted = true;
    const int by = me->thread;
    o->change[by] += change;
    if (o->change[by] < o->least[by]) o->least[by] = o->change[by];
    write_down(of, change, false);
}

/// Values that are not objects, such as string literals, have their highest bit set.
static bool is_followed(const void *object) {
    return type_count > 0 && (intptr_t)object > 0 && is_of_interest(*(const uintptr_t *)object);
}

void rl_counts(const void *object, int change) {
    if (!is_listening()) return;
    if (is_followed(object))
        note_change((uintptr_t)object, change, rl_references_to(object));
    rl_clean_stack();
}

void rl_has_counted(const void *object, int change) {
    if (!is_listening()) return;
    if (is_followed(object))
        note_change((uintptr_t)object, change, rl_references_to(object) - change);
    rl_clean_stack();
}

void rl_is_observed(const void *object) {
    if (!is_followed_here() || (intptr_t)object <= 0) return;
    const size_t of = number_of((uintptr_t)object);
    objects[of].is_observed = true;
}

static void look_at(size_t of) {
    objects[of].is_observed = true;
    if (is_listening()) write_down(of, 0, true);
}

void rl_asks_for_uniqueness(const void *object) {
    if (!is_followed_here() || !object) return;
    const size_t of = number_of((uintptr_t)object);
    objects[of].asks_for_uniqueness = true;
    look_at(of);
    rl_clean_stack();
}

void rl_looks_at_object(const void *object) {
    if (!is_followed_here() || !object) return;
    look_at(number_of((uintptr_t)object));
    rl_clean_stack();
}

// The target of a weak reference is recorded, because the reference does not reveal it once the
// object is gone.

void rl_refers_weakly(const void *reference, const void *object) {
    if (!is_followed_here()) return;
    const size_t referent = object ? number_of((uintptr_t)object) + 1 : 0;
    rl_cell_at((uintptr_t)reference)->referent = referent;
}

void rl_copies_weak_reference(const void *to, const void *from) {
    if (!is_followed_here()) return;
    const size_t referent = rl_cell_at((uintptr_t)from)->referent;
    rl_cell_at((uintptr_t)to)->referent = referent;
}

void rl_looks_for(const void *reference) {
    if (!is_followed_here()) return;
    const size_t referent = rl_cell_at((uintptr_t)reference)->referent;
    if (referent > 0) look_at(referent - 1);
    rl_clean_stack();
}

void rl_begin_release(rl_release_in_progress *this, const void *object) {
    thread *t = my_thread();
    *this = (rl_release_in_progress){object, t->releases};
    t->releases = this;
}

void rl_end_release(const rl_release_in_progress *this) {
    if (me->fate == STAYS) my_thread()->releases = this->outer;
}

void rl_forget_counts_from(uint32_t step) {
    while (counting_count > 0 && countings[counting_count - 1].step >= step) counting_count--;
}

// MARK: - After a run

/// Whether some order of what the threads have done leaves no reference when thread `by` has
/// changed the count by `after`.
static bool could_end(const observed *o, int by, int32_t after) {
    int64_t least = o->at_first + after;
    for (int i = 0; i < lab.thread_count; i++)
        if (i != by) least += o->least[i];
    return o->is_counted && least <= 0;
}

static bool decides(const observed *o) {
    return o->is_observed && (o->asks_for_uniqueness || could_end(o, 0, o->least[0]));
}

static bool learn_types(void) {
    bool has_learned = false;
    for (size_t i = 0; i < object_count; i++) {
        if (!objects[i].is_observed || is_of_interest(objects[i].type)) continue;
        MAKE_ROOM(types, type_count, type_capacity, 16);
        types[type_count++] = objects[i].type;
        has_learned = true;
    }
    if (has_learned && !lab.listens_to_counts) is_everywhere = true;
    return has_learned;
}

/// A step that cannot remove the last reference can be permuted freely.
static bool depends(const counting *c) {
    const observed *o = &objects[c->of];
    if (c->looks || (o->asks_for_uniqueness && c->after != c->before)) return true;
    return c->least < c->before && could_end(o, lab.steps[c->step].thread, c->least);
}

static bool learn_places(void) {
    bool has_learned = false;
    for (size_t i = 0; i < counting_count; i++) {
        const counting *c = &countings[i];
        const uintptr_t pc = lab.steps[c->step].pc, type = objects[c->of].type;
        if (!decides(&objects[c->of]) || !depends(c) || does_at(pc, type, !c->looks)) continue;
        MAKE_ROOM(places, place_count, place_capacity, 16);
        places[place_count++] = (place){pc, type, !c->looks};
        has_learned = true;
    }
    return has_learned;
}

bool rl_learn_counts(void) {
    if (learn_types()) return true;
    if (is_everywhere || type_count == 0) return false;
    return learn_places();
}

bool rl_next_count_effect(size_t *next, uint32_t *step, uint8_t *kind, uintptr_t *object) {
    if (is_everywhere || type_count == 0) return false;
    while (*next < counting_count) {
        const counting *c = &countings[(*next)++];
        if (!decides(&objects[c->of]) || !depends(c)) continue;
        *step = c->step;
        *kind = c->looks ? RL_LOOK : RL_COUNT;
        *object = objects[c->of].object;
        return true;
    }
    return false;
}

#endif
