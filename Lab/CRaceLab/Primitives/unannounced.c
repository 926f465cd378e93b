// Accesses that no call of the runtime announces: to properties with `@exclusivity(unchecked)`, in
// targets where the check is disabled, and to memory behind unsafe pointers. Code that is compiled
// with `-sanitize=thread` still makes a call for each of them.
//
// Nearly all such accesses are to memory that one thread has, or that is only read. So they are no
// steps at first. Where two threads access the same memory and nothing orders that, the exploration
// starts over, and the accesses at these two places are steps.

#include "Primitives/plain_memory.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Primitives/families.h"
#include "Scheduler/outside.h"
#include "State/blocks.h"
#include "Symbols/call_sites.h"

#include <string.h>
#include <sys/mman.h>

enum { MOST_PLACES = 256 };

typedef struct {
    uint32_t count, changes;
    uintptr_t at[MOST_PLACES];
    bool is_publishing[MOST_PLACES];  // also accesses to memory that is private are steps
    bool is_partial[MOST_PLACES];     // accesses may conflict that begin at different addresses
} places;

/// Shared with child processes: the parent replays what they have found.
static places *unannounced, *of_locks;

__attribute__((constructor)) static void make_places(void) {
    const int access = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_ANONYMOUS;
    places *memory = mmap(NULL, 2 * sizeof(places), access, flags, -1, 0);
    if (memory == MAP_FAILED) return;
    unannounced = memory;
    of_locks = memory + 1;
}

/// Returns the index of a place, or the number of places if it is none of them.
static uint32_t index_of(const places *p, uintptr_t pc) {
    uint32_t i = 0;
    while (i < p->count && p->at[i] != pc) i++;
    return i;
}

static bool contains(const places *p, uintptr_t pc) { return p && index_of(p, pc) < p->count; }

/// Whether other threads cannot know the memory yet: the thread has allocated it, and has released
/// nothing since.
static bool is_private(const thread *t, uintptr_t address) {
    const block_of_memory *b = rl_block_with(t, address);
    return b && b->since == t->clock.at[me->thread];
}

bool rl_is_known_unannounced(const thread *t, uintptr_t address, uintptr_t pc) {
    if (!contains(unannounced, pc)) return false;
    return unannounced->is_publishing[index_of(unannounced, pc)] || !is_private(t, address);
}

bool rl_is_partial(uintptr_t pc) {
    return contains(unannounced, pc) && unannounced->is_partial[index_of(unannounced, pc)];
}

/// Sets what holds for a place from now on. Returns whether that is new.
static bool learns(bool *known, bool holds) {
    const bool is_new = holds && !*known;
    *known |= holds;
    return is_new;
}

static void add(rl_place place, bool is_publishing, bool is_partial) {
    if (!place.pc) return;
    const uint32_t at = unannounced ? index_of(unannounced, place.pc) : MOST_PLACES;
    if (at == MOST_PLACES)
        return rl_meet_outside("accesses memory without a call that announces it", place);
    const bool is_new = at == unannounced->count;
    if (is_new) {
        unannounced->at[at] = place.pc;
        unannounced->is_publishing[at] = unannounced->is_partial[at] = false;
        unannounced->count++;
    }
    const bool publishes = learns(&unannounced->is_publishing[at], is_publishing);
    if (!learns(&unannounced->is_partial[at], is_partial) && !publishes && !is_new) return;
    unannounced->changes++;
    lab.run.has_more_steps = true;
}

/// Whether another thread has written this memory before it published its address, and nothing
/// orders that before now, as when an atomic operation with a weak ordering publishes it. Stores
/// the place of the write in `*other`.
static bool is_published_unordered(uintptr_t address, uintptr_t *other) {
    if (!rl_exploration.summary.has_weak_orderings) return false;
    const block_of_memory *b = rl_unordered_block(address);
    if (b) *other = b->written_at;
    return b && b->written_at;
}

/// Checks an access against the earlier ones, which are kept apart from those that are steps.
/// `announced`: it may conflict with others, but is a step already. Which bytes it accesses is then
/// not known.
static void check(rl_kind kind, extent memory, rl_place place, bool announced) {
    const thread *t = my_thread();
    // In a `deinit`, the thread knows what was done with the other references.
    for (const rl_release_in_progress *r = t->releases; r; r = r->outer)
        rl_has_last_reference(r->object);
    const uintptr_t apart = (uintptr_t)1 << 62;
    const plain_access access = {.kind = (uint8_t)kind,
                                 .address = memory.start ^ apart,
                                 .pc = announced ? 0 : place.pc,
                                 .step = (uint32_t)t->last_step};
    rl_unordered other = {0};
    const bool is_publishing = is_published_unordered(memory.start, &other.pc);
    if (!is_publishing) other = rl_find_unordered(access, memory.size);
    if ((!is_publishing && !other.exists) || !rl_sees(RL_ACCESSES, place)) return;
    const bool is_partial = other.is_partial || rl_is_partial(access.pc) || rl_is_partial(other.pc);
    if (is_partial && !(access.pc && other.pc))
        return rl_meet_outside("accesses a part of a variable by pointer", place);
    if (!announced) add(place, false, is_partial);
    add((rl_place){other.pc, place.stack}, is_publishing, is_partial);
}

/// Whether an access is a part of the one that its statement has announced, such as that to a field
/// of a property.
static bool is_part_of_announced(thread *t, uintptr_t address, rl_place place) {
    if (t->open_count > 0 || address == t->begun) return true;
    if (address < t->begun) return false;
    if (!t->begun_in_is_known) t->begun_in = rl_extent_with(t->begun);
    t->begun_in_is_known = true;
    if (address - t->begun_in.start >= t->begun_in.size) return false;
    rl_ignore();
    rl_line one, other;
    const bool is_one = rl_find_line(place.pc - 1, &one) && rl_find_line(t->begun_at - 1, &other) &&
                        one.line == other.line && one.file == other.file;
    rl_attend();
    return is_one;
}

void rl_meet_unannounced(rl_kind kind, extent memory, bool is_step, rl_place place) {
    if (is_step) return check(kind, memory, place, false);
    thread *t = my_thread();
    const uintptr_t address = memory.start;
    if (is_private(t, address)) {
        // It may publish the address without a release.
        if (kind == RL_MODIFY) rl_block_with(t, address)->written_at = place.pc;
        return;
    }
    if (is_part_of_announced(t, address, place)) return;
    if (rl_is_compilers_own(place.pc) && rl_is_compilers_cache(place.pc, address)) return;
    if (kind == RL_MODIFY) t->modifies = true;
    check(kind, memory, place, false);
}

static void announce(uintptr_t address, uintptr_t pc) {
    thread *t = my_thread();
    t->begun = address;
    t->begun_at = pc;
    t->begun_in_is_known = false;
}

void rl_meet_announced(rl_kind kind, uintptr_t address, rl_place place) {
    announce(address, place.pc);
    check(kind, (extent){address, 0}, place, true);
}

// MARK: - Variables that are passed by pointer

/// The lab does not see what a C function does with the variable: perhaps an atomic operation.
void rl_passed_by_pointer(uintptr_t pc) {
    rl_mark_place(pc, RL_BY_POINTER);
    for (size_t i = 0; i < lab.run.race_count; i++) {
        const rl_race *race = &lab.run.races[i];
        if (!rl_is_marked(race->first_pc, RL_BY_POINTER) ||
            !rl_is_marked(race->second_pc, RL_BY_POINTER))
            continue;
        lab.run.race_count = 0;
        rl_meet_outside("passes a variable by pointer, perhaps to C",
                        (rl_place){.pc = race->second_pc});
    }
}

/// Whether a function is a closure in another one. The compiler splits an asynchronous function
/// into parts, and the names of all but the first end with a number, as in `TY2_`.
static bool is_closure_in(const char *inner, const char *outer) {
    const char *end = strrchr(outer, 'T');
    const bool is_part = end && (end[1] == 'Y' || end[1] == 'Q') && end[2] &&
                         strspn(end + 2, "0123456789_") == strlen(end + 2);
    return strncmp(inner, outer, is_part ? (size_t)(end - outer) : strlen(outer)) == 0;
}

/// Whether the access begins in the function with this place, or in a function around it, if that
/// is a closure. The access to a property that a subclass or a witness may replace is begun by its
/// accessor.
static bool is_begun_around(const open_access *o, uintptr_t pc) {
    if (rl_are_in_one_function(o->begun_at, pc) || rl_are_in_one_function(o->pc, pc)) return true;
    rl_ignore();
    rl_line outer, inner;
    const bool is_closure = rl_find_line(o->pc - 1, &outer) && rl_find_line(pc - 1, &inner) &&
                            is_closure_in(inner.function, outer.function);
    rl_attend();
    return is_closure;
}

void rl_is_used_as_lock(const void *variable, rl_place place) {
    const thread *t = my_thread();
    for (size_t i = 0; i < t->open_count; i++) {
        const open_access *o = &t->open[i];
        if (o->address != (uintptr_t)variable || contains(of_locks, o->pc)) continue;
        if (!is_begun_around(o, place.pc)) continue;
        if (!of_locks || of_locks->count == MOST_PLACES)
            return rl_meet_outside("passes locks by pointer at too many places", place);
        of_locks->at[of_locks->count++] = o->pc;
        of_locks->changes++;
        if (rl_exploration.summary.older_change == o->begun_at)
            rl_exploration.summary.older_change = 0;
        lab.run.has_more_steps = true;
    }
}

bool rl_only_passes_lock(const void *address, rl_place place) {
    // An accessor may be that of other variables, too, so what counts is the place in source.
    const bool only_passes =
        of_locks && of_locks->count > 0 && contains(of_locks, rl_place_in_source(place).pc);
    if (only_passes) announce((uintptr_t)address, place.pc);
    return only_passes;
}

uint32_t rl_steps_learned(void) {
    return unannounced ? unannounced->changes + of_locks->changes : 0;
}

#endif
