// What is known about each address in the current run. The tables keep the records of earlier runs
// for reuse.

#include "State/shadow.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"

#include <string.h>

/// The record does not move when the table grows.
typedef struct {
    uintptr_t address;
    uint64_t run;  // if it is not the current run, the slot is empty
    void *known;   // the record; NULL: not allocated yet
} slot;

typedef struct {
    slot *slots;
    size_t count, capacity;  // `capacity` is a power of 2
} table;

static table cells, locks, objects;

static slot *slot_of(const table *t, uintptr_t address) {
    const uint64_t hash = (uint64_t)(address >> 3) * 0x9E3779B97F4A7C15ull;
    size_t at = (size_t)(hash >> 20) & (t->capacity - 1);
    while (t->slots[at].run == lab.run && t->slots[at].address != address)
        at = (at + 1) & (t->capacity - 1);
    return &t->slots[at];
}

static void make_room(table *t, void (*discard_known)(void *known)) {
    const table old = *t;
    t->capacity = old.capacity ? 2 * old.capacity : 256;
    t->slots = rl_grown(NULL, 0, t->capacity, sizeof *t->slots);
    for (size_t i = 0; i < old.capacity; i++) {
        if (old.slots[i].run == lab.run)
            *slot_of(t, old.slots[i].address) = old.slots[i];
        else if (old.slots[i].known)
            discard_known(old.slots[i].known);
    }
    rl_discard(old.slots);
}

/// Sets `*is_new` if nothing is known about the address. The record may then hold data of an
/// earlier run about another address.
static void *known_at(table *t, uintptr_t address, size_t size, void (*discard_known)(void *known),
                      bool *is_new) {
    if (2 * t->count >= t->capacity) make_room(t, discard_known);
    slot *s = slot_of(t, address);
    *is_new = s->run != lab.run;
    if (!*is_new) return s->known;
    if (!s->known) s->known = rl_allocate(size, "what is known of an address");
    s->run = lab.run;
    s->address = address;
    t->count++;
    return s->known;
}

void rl_forget_addresses(void) { cells.count = locks.count = objects.count = 0; }

cell *rl_cell_at(uintptr_t address) {
    bool is_new;
    cell *c = known_at(&cells, address, sizeof *c, rl_discard, &is_new);
    if (is_new) rl_forget_cell(c);
    return c;
}

void rl_forget_cell(cell *c) {
    memset(c, 0, sizeof *c);
    c->writer = NO_THREAD;
}

static void discard_lock(void *known) {
    lock *l = known;
    rl_discard(l->line);
    rl_discard(l);
}

lock *rl_lock_at(uintptr_t address) {
    bool is_new;
    lock *l = known_at(&locks, address, sizeof *l, discard_lock, &is_new);
    if (is_new)
        *l = (lock){.address = address,
                    .owner = NO_THREAD,
                    .line = l->line,
                    .line_capacity = l->line_capacity};
    return l;
}

lock *rl_known_lock(uintptr_t address) {
    if (locks.capacity == 0) return NULL;
    const slot *s = slot_of(&locks, address);
    return s->run == lab.run ? s->known : NULL;
}

object_record *rl_object_at(const void *object) {
    bool is_new;
    object_record *o = known_at(&objects, (uintptr_t)object, sizeof *o, rl_discard, &is_new);
    if (is_new) *o = (object_record){0};
    return o;
}

void rl_for_all_locks(void (*visit)(lock *l)) {
    for (size_t i = 0; i < locks.capacity; i++)
        if (locks.slots[i].run == lab.run) visit(locks.slots[i].known);
}

#endif
