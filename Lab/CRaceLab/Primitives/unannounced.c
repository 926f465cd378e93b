// Accesses that no call of the runtime announces: to properties with `@exclusivity(unchecked)`, in
// targets where the check is disabled, and to memory behind unsafe pointers. Code that is compiled with
// `-sanitize=thread` still makes a call for each of them.
//
// Nearly all such accesses are to memory that one thread has, or that is only read. So they are no
// steps at first. Where two threads access the same memory and nothing orders that, the exploration
// starts over, and the accesses at these two places are steps.

#include "Primitives/unannounced.h"

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
    uint32_t count;
    uintptr_t at[MOST_PLACES];
} places;

/// Shared with child processes: the parent replays what they have found.
static places *unannounced;

__attribute__((constructor)) static void make_places(void) {
    const int access = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_ANONYMOUS;
    void *memory = mmap(NULL, sizeof(places), access, flags, -1, 0);
    unannounced = memory == MAP_FAILED ? NULL : memory;
}

static bool contains(const places *p, uintptr_t pc) {
    for (uint32_t i = 0; p && i < p->count; i++)
        if (p->at[i] == pc) return true;
    return false;
}

bool rl_is_known_unannounced(uintptr_t pc) { return contains(unannounced, pc); }

static void add(rl_place place) {
    if (!place.pc || contains(unannounced, place.pc)) return;
    if (!unannounced || unannounced->count == MOST_PLACES)
        return rl_meet_outside("accesses memory without a call that announces it", place);
    unannounced->at[unannounced->count++] = place.pc;
    lab.has_more_steps = true;
}

/// Checks an access against the earlier ones, which are kept apart from those that are steps.
/// `announced`: it may conflict with others, but is a step already.
static void check(rl_kind kind, uintptr_t address, rl_place place, bool announced) {
    const thread *t = my_thread();
    // In a `deinit`, the thread knows what was done with the other references.
    for (const rl_release_in_progress *r = t->releases; r; r = r->outer)
        rl_has_last_reference(r->object);
    const uintptr_t apart = (uintptr_t)1 << 62;
    uintptr_t other;
    const plain_access access = {(uint8_t)kind, address ^ apart, announced ? 0 : place.pc,
                                 (uint32_t)t->last_step};
    if (!rl_is_unordered(access, &other) || !rl_sees(RL_ACCESSES, place)) return;
    if (!announced) add(place);
    add((rl_place){other, place.stack});
}

bool rl_is_private(const thread *t, uintptr_t address) {
    const block_of_memory *b = rl_block_with(t, address);
    return b && b->since == t->clock.at[me->thread];
}

/// Whether an access is a part of the one that its statement has announced, such as that to a field of
/// a property.
static bool is_part_of_announced(const thread *t, uintptr_t address, rl_place place) {
    if (t->open_count > 0 || address == t->begun) return true;
    if (address < t->begun || !rl_are_in_one_block(t->begun, address)) return false;
    rl_line one, other;
    return rl_find_line(place.pc - 1, &one) && rl_find_line(t->begun_at - 1, &other) &&
           one.line == other.line && one.file == other.file;
}

void rl_meet_unannounced(rl_kind kind, uintptr_t address, rl_place place) {
    const thread *t = my_thread();
    if (rl_is_private(t, address) || is_part_of_announced(t, address, place)) return;
    if (rl_is_compilers_own(place.pc) && rl_is_compilers_cache(place.pc, address)) return;
    if (kind == RL_MODIFY) lab.summary.has_unannounced = true;
    check(kind, address, place, false);
}

void rl_meet_announced(rl_kind kind, uintptr_t address, rl_place place) {
    thread *t = my_thread();
    t->begun = address;
    t->begun_at = place.pc;
    check(kind, address, place, true);
}

// MARK: - Variables that are passed by pointer

static places by_pointer;

/// What a C function does with the variable, the lab does not see: perhaps it is an atomic operation.
void rl_passed_by_pointer(uintptr_t pc) {
    if (!contains(&by_pointer, pc)) {
        if (by_pointer.count == MOST_PLACES) return;
        by_pointer.at[by_pointer.count++] = pc;
    }
    for (size_t i = 0; i < lab.race_count; i++) {
        const rl_race *race = &lab.races[i];
        if (!contains(&by_pointer, race->first_pc) || !contains(&by_pointer, race->second_pc)) continue;
        lab.race_count = 0;
        rl_meet_outside("passes a variable by pointer, perhaps to an atomic operation in C",
                        (rl_place){.pc = race->second_pc});
    }
}

#endif
