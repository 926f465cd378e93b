// State that threads share outside of the program's memory. The calls that use it are no steps:
// their order is not explored. If the order of two of them matters, and no lock decides it, there
// is no verdict.

#include "Primitives/outer_state.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Scheduler/outside.h"
#include "Search/spinning.h"
#include "Symbols/call_sites.h"

#include <string.h>

bool rl_uses_outer_state(void) {
    return rl_active && me->thread >= 0 && me->fate == STAYS && !rl_is_ignoring();
}

uint64_t rl_key(uint64_t one, uint64_t other) {
    const uint64_t z = (one ^ (other + 0x9E3779B97F4A7C15ull + (one << 6))) * 0xBF58476D1CE4E5B9ull;
    return z ^ (z >> 31);
}

uint64_t rl_key_of_text(const char *text, size_t size) {
    uint64_t key = size;
    for (size_t i = 0; i < size; i++) key = rl_key(key, (unsigned char)text[i]);
    return key;
}

void rl_use_outer_state(uint64_t key, rl_use use, const char *what, rl_place place) {
    thread *t = my_thread();
    // A loop that does this is not one that only waits.
    if (use == RL_CHANGES) rl_forget_visits(t);
    // No address of the program has this bit.
    const uintptr_t address = (uintptr_t)(key << 3) | (uintptr_t)1 << 63;
    const rl_kind kind = use == RL_CHANGES ? RL_MODIFY : RL_READ;
    const plain_access access = {(uint8_t)kind, address, place.pc, (uint32_t)t->last_step};
    if (!rl_find_unordered(access, 0).exists) return;
    // The testing libraries write down the issues of all threads.
    const char *library = rl_library_between(&place);
    if (library && (strstr(library, "Testing") || strstr(library, "XCTest"))) return;
    rl_meet_outside(what, rl_place_in_source(place));
}

#endif
