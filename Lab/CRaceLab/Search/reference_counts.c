// Dependences through reference counts alone. Retains and releases decide whether a weak reference
// still finds its object, which thread runs a `deinit`, and whether an object is uniquely
// referenced. Except for some last releases, they are not steps of their own.
//
// ReferenceCounts.swift explains which objects are *observed* and when they matter. That is known
// only after a run. During a run, sleep sets use what earlier runs have shown: the classes of
// observed objects, and the places in the code whose steps change their counts.

#include "Search/reference_counts.h"
#include "Search/waking.h"

#include "Platform/memory.h"
#include "Platform/stack.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#include <dlfcn.h>

static struct {
    rl_counted_object *objects;
    size_t object_count, object_capacity;
    rl_counting *countings;
    size_t counting_count, counting_capacity;
    uintptr_t observed_at;  // where an object was observed first; 0: nowhere
} counts;

RL_OF_RUN(counts)

uintptr_t rl_place_that_observes(void) { return counts.observed_at; }

/// What earlier runs have shown.
static const rl_known_counts *known(void) {
    static const rl_known_counts nothing;
    return rl_exploration.scenario->counts ? rl_exploration.scenario->counts : &nothing;
}

// MARK: - Events on the threads

static bool is_listening(void) {
    // Also in a replay, so that the same remnants are left on the stack.
    return rl_active && me->fate == STAYS && rl_exploration.scenario->reduce &&
           lab.run.step_count > 0;
}

/// A lost thread may come back during another exploration.
static bool is_in_exploration(void) { return me && me->fate != IS_LOST && !rl_is_ignoring(); }

static bool is_followed_here(void) {
    return is_in_exploration() && rl_exploration.scenario->reduce;
}

static size_t number_of(uintptr_t object) {
    cell *c = rl_cell_at(object);
    if (c->counted > 0) return c->counted - 1;
    MAKE_ROOM(counts.objects, counts.object_count, counts.object_capacity, 64);
    counts.objects[counts.object_count] =
        (rl_counted_object){.object = object, .type = *(const uintptr_t *)object};
    c->counted = ++counts.object_count;
    return counts.object_count - 1;
}

int64_t rl_references_to(const void *object) {
    static size_t (*count)(const void *);
    if (!count) count = (size_t(*)(const void *))dlsym(RTLD_DEFAULT, "swift_retainCount");
    return count ? (int64_t)count(object) : 0;
}

/// Whether its next step, or some of what that may read, has been explored.
static bool is_asleep(int thread) {
    return has(lab.run.sleeping | lab.run.asleep_early, thread) || lab.run.slept[thread] > 0;
}

/// Wakes the threads that sleep at a place which depends on the count of an object of this type.
static void wake_because_of(uintptr_t type, uint8_t kind) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (is_asleep(i) && rl_depends_on_count(known(), lab.run.threads[i].pc, kind, type))
            rl_wake(i);
}

/// The same, for a change after which so many references to an object are left.
static void wake_because_of_change(uintptr_t type, bool removes, int64_t left) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        if (!is_asleep(i)) continue;
        const uintptr_t pc = lab.run.threads[i].pc;
        const bool depends = removes && rl_depends_on_drop(known(), pc, left, type);
        if (depends || rl_asks_at(known(), pc, type)) rl_wake(i);
    }
}

static void write_down(size_t of, int32_t change, int64_t left, bool looks) {
    // That of another thread, if it has started this one, or has resumed this task.
    const uint32_t step = lab.run.step_count - 1;
    if (looks || counts.objects[of].asks_for_uniqueness)
        wake_because_of(counts.objects[of].type, looks ? RL_LOOK : RL_COUNT);
    else
        wake_because_of_change(counts.objects[of].type, change < 0, left);
    for (size_t i = counts.counting_count; !looks && i > 0 && counts.countings[i - 1].step == step;
         i--) {
        rl_counting *c = &counts.countings[i - 1];
        if (c->of != of || c->by != me->thread || c->looks) continue;
        c->after += change;
        if (c->after < c->least) c->least = c->after;
        return;
    }
    MAKE_ROOM(counts.countings, counts.counting_count, counts.counting_capacity, 256);
    const int32_t after = counts.objects[of].change[me->thread], before = after - change;
    counts.countings[counts.counting_count++] = (rl_counting){
        of, step, (int8_t)me->thread, before, after, change < 0 ? after : before, looks};
}

/// `before`: the number of references before the change.
static void note_change(uintptr_t object, int32_t change, int64_t before) {
    const size_t of = number_of(object);
    rl_counted_object *o = &counts.objects[of];
    if (!o->is_counted) o->at_first = before;
    o->is_counted = true;
    const int by = me->thread;
    rl_set_change(o, by, o->change[by] + change);
    write_down(of, change, before + change, false);
}

/// Whether this is an object of an observed class. Values that are no objects are negative.
static bool is_followed(const void *object) {
    return known()->type_count > 0 && (intptr_t)object > 0 &&
           rl_is_of_interest(known(), *(const uintptr_t *)object);
}

void rl_counts(const void *object, int change, bool is_done) {
    if (!is_listening()) return;
    if (!is_followed(object)) return rl_clean_top_of_stack();
    note_change((uintptr_t)object, change, rl_references_to(object) - (is_done ? change : 0));
    rl_clean_stack();
}

static void observe(size_t of) {
    counts.objects[of].is_observed = true;
    if (rl_active && !counts.observed_at) counts.observed_at = my_thread()->pc;
}

void rl_is_observed(const void *object) {
    if (!is_followed_here() || (intptr_t)object <= 0) return;
    observe(number_of((uintptr_t)object));
}

void rl_finds_last_reference(const void *object, uint32_t n) {
    rl_is_observed(object);
    if (!is_listening() || !is_followed(object)) return;
    note_change((uintptr_t)object, -(int32_t)n, n);
    note_change((uintptr_t)object, (int32_t)n, 0);
}

static void look_at(size_t of) {
    observe(of);
    if (is_listening()) write_down(of, 0, 0, true);
}

void rl_asks_for_uniqueness(const void *object) {
    if (!is_followed_here() || !object) return;
    const size_t of = number_of((uintptr_t)object);
    counts.objects[of].asks_for_uniqueness = true;
    look_at(of);
    rl_clean_stack();
}

void rl_looks_at_object(const void *object) {
    if (!is_followed_here() || !object) return;
    look_at(number_of((uintptr_t)object));
    rl_clean_stack();
}

/// The record that all weak references to an object share. It begins with the address of the object,
/// also once that is gone. The last bits of a reference are marks.
static const uintptr_t *shared_record(const void *reference) {
    return (const uintptr_t *)(*(const uintptr_t *)reference & ~(uintptr_t)3);
}

/// The target of a weak reference, an index + 1; or 0. The reference can have been moved without a
/// call of the runtime, as part of a larger value. But a copy of one whose target is gone does not
/// reveal that, so what was copied is recorded.
static size_t target_of(const void *reference) {
    const uintptr_t *record = shared_record(reference);
    return record ? rl_cell_at(*record)->counted : rl_cell_at((uintptr_t)reference)->referent;
}

void rl_refers_weakly(const void *reference, const void *object, rl_place place) {
    if (!is_in_exploration()) return;
    if (object && rl_is_call_of_program(&place)) rl_object_at(object)->has_weak_references = true;
    if (!rl_exploration.scenario->reduce) return;
    const size_t referent = object ? number_of((uintptr_t)object) + 1 : 0;
    rl_cell_at((uintptr_t)reference)->referent = referent;
}

void rl_copies_weak_reference(const void *to, const void *from) {
    if (!is_followed_here()) return;
    const size_t referent = target_of(from);
    rl_cell_at((uintptr_t)to)->referent = referent;
}

void rl_looks_for(const void *reference) {
    if (!is_followed_here()) return;
    const size_t referent = target_of(reference);
    if (referent > 0) look_at(referent - 1);
    rl_clean_stack();
}

void rl_begin_release(rl_release_in_progress *this, const void *object) {
    // The number of a lost thread may belong to a thread of another exploration.
    if (me->fate != STAYS) return;
    thread *t = my_thread();
    *this = (rl_release_in_progress){object, t->releases};
    t->releases = this;
}

void rl_end_release(const rl_release_in_progress *this) {
    if (me->fate == STAYS) my_thread()->releases = this->outer;
}

void rl_forget_counts_from(uint32_t step) {
    while (counts.counting_count > 0 && counts.countings[counts.counting_count - 1].step >= step)
        counts.counting_count--;
}

void rl_add_counts(rl_execution *run) {
    run->objects = counts.objects;
    run->object_count = counts.object_count;
    run->countings = counts.countings;
    run->counting_count = counts.counting_count;
}
