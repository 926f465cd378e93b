#include "Model/misuse.h"

#include "Platform/memory.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#include <string.h>

static struct {
    rl_misuse *all;
    size_t count, capacity;
} misuses;

RL_OF_RUN(misuses)

void rl_add_misuse(rl_misuse misuse) {
    for (size_t i = 0; i < misuses.count; i++)
        if (memcmp(&misuses.all[i], &misuse, sizeof misuse) == 0) return;
    MAKE_ROOM(misuses.all, misuses.count, misuses.capacity, 8);
    misuses.all[misuses.count++] = misuse;
}

rl_misuse rl_misuse_at(rl_misuse_kind kind, rl_place place) {
    rl_misuse misuse;
    memset(&misuse, 0, sizeof misuse);
    misuse.kind = (uint8_t)kind;
    misuse.thread = (int8_t)(rl_on_lab_thread() ? me->thread : NO_THREAD);
    misuse.pc = place.pc;
    return misuse;
}

void rl_is_misused(rl_misuse_kind kind, rl_place place) {
    my_thread()->accesses++;
    rl_add_misuse(rl_misuse_at(kind, place));
}

const rl_misuse *rl_misuses(size_t *count) {
    *count = misuses.count;
    return misuses.all;
}

bool rl_is_held(const void *address) {
    const lock *l = rl_known_lock((uintptr_t)address);
    return l && (l->owner != NO_THREAD || l->sharers);
}

bool rl_is_held_elsewhere(const void *address) {
    const lock *l = rl_known_lock((uintptr_t)address);
    return l && l->owner != NO_THREAD && l->owner != me->thread;
}

void rl_frees_again(const void *memory, rl_place place) {
    rl_thread_set *by = &rl_object_at(memory)->freed_again_by;
    if (has(*by, me->thread)) return;
    if (me->thread >= 0) *by |= set_of(me->thread);
    rl_library_between(&place);
    rl_add_misuse(rl_misuse_at(RL_FREED_TWICE, place));
}
