// What is known about each address in the current run.

#include "State/shadow.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"

#include <string.h>

/// The record does not move when the table grows.
typedef struct {
    uintptr_t address;
    void *known;  // the record; NULL: the slot is empty
} slot;

typedef struct {
    slot *slots;
    size_t count, capacity;  // `capacity` is a power of 2
} table;

static struct { table cells, locks, objects; } shadow;

RL_OF_RUN(shadow)

static slot *slot_of(const table *t, uintptr_t address) {
    const uint64_t hash = (uint64_t)(address >> 3) * 0x9E3779B97F4A7C15ull;
    size_t at = (size_t)(hash >> 20) & (t->capacity - 1);
    while (t->slots[at].known && t->slots[at].address != address) at = (at + 1) & (t->capacity - 1);
    return &t->slots[at];
}

static void make_room(table *t) {
    const table old = *t;
    t->capacity = old.capacity ? 2 * old.capacity : 64;
    const size_t size = t->capacity * sizeof *t->slots;
    t->slots = memset(rl_allocate_in_run(size, "a table of addresses"), 0, size);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].known) *slot_of(t, old.slots[i].address) = old.slots[i];
}

/// Sets `*is_new` if nothing is known about the address. The record is then zero.
static void *known_at(table *t, uintptr_t address, size_t size, bool *is_new) {
    if (2 * t->count >= t->capacity) make_room(t);
    slot *s = slot_of(t, address);
    *is_new = !s->known;
    if (!*is_new) return s->known;
    s->known = memset(rl_allocate_in_run(size, "what is known of an address"), 0, size);
    s->address = address;
    t->count++;
    return s->known;
}

cell *rl_cell_at(uintptr_t address) {
    bool is_new;
    cell *c = known_at(&shadow.cells, address, sizeof *c, &is_new);
    if (is_new) c->writer = NO_THREAD;
    return c;
}

void rl_forget_cell(cell *c) {
    memset(c, 0, sizeof *c);
    c->writer = NO_THREAD;
}

lock *rl_lock_at(uintptr_t address) {
    bool is_new;
    lock *l = known_at(&shadow.locks, address, sizeof *l, &is_new);
    if (is_new) *l = (lock){.address = address, .owner = NO_THREAD};
    return l;
}

lock *rl_known_lock(uintptr_t address) {
    return shadow.locks.capacity > 0 ? slot_of(&shadow.locks, address)->known : NULL;
}

object_record *rl_object_at(const void *object) {
    bool is_new;
    return known_at(&shadow.objects, (uintptr_t)object, sizeof(object_record), &is_new);
}

void rl_for_all_locks(void (*visit)(lock *l)) {
    for (size_t i = 0; i < shadow.locks.capacity; i++)
        if (shadow.locks.slots[i].known) visit(shadow.locks.slots[i].known);
}

#endif
