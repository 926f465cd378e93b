#include "State/shadow.h"

#include "Platform/memory.h"

#include <string.h>

typedef struct rl_slot {
    uintptr_t address;
    void *known;  // the record; NULL: the slot is empty
} slot;

static slot *slot_of(const rl_table *t, uintptr_t address) {
    const uint64_t hash = (uint64_t)(address >> 3) * 0x9E3779B97F4A7C15ull;
    size_t at = (size_t)(hash >> 20) & (t->capacity - 1);
    while (t->slots[at].known && t->slots[at].address != address) at = (at + 1) & (t->capacity - 1);
    return &t->slots[at];
}

static void make_room(rl_table *t, void *(*allocate)(size_t size, const char *what)) {
    const rl_table old = *t;
    t->capacity = old.capacity ? 2 * old.capacity : 64;
    const size_t size = t->capacity * sizeof *t->slots;
    t->slots = memset(allocate(size, "a table of addresses"), 0, size);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].known) *slot_of(t, old.slots[i].address) = old.slots[i];
}

void *rl_record_at(rl_table *t, uintptr_t address, size_t size,
                   void *(*allocate)(size_t size, const char *what), bool *is_new) {
    if (2 * t->count >= t->capacity) make_room(t, allocate);
    slot *s = slot_of(t, address);
    *is_new = !s->known;
    if (!*is_new) return s->known;
    s->known = memset(allocate(size, "what is known of an address"), 0, size);
    s->address = address;
    t->count++;
    return s->known;
}

void *rl_known_record(const rl_table *t, uintptr_t address) {
    return t->capacity > 0 ? slot_of(t, address)->known : NULL;
}

static struct { rl_table cells, locks, objects; } shadow;

RL_OF_RUN(shadow)

static void *known_at(rl_table *t, uintptr_t address, size_t size, bool *is_new) {
    return rl_record_at(t, address, size, rl_allocate_in_run, is_new);
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

lock *rl_known_lock(uintptr_t address) { return rl_known_record(&shadow.locks, address); }

object_record *rl_object_at(const void *object) {
    bool is_new;
    return known_at(&shadow.objects, (uintptr_t)object, sizeof(object_record), &is_new);
}

object_record *rl_known_object(const void *object) {
    return rl_known_record(&shadow.objects, (uintptr_t)object);
}

void rl_for_all_locks(void (*visit)(lock *l)) {
    for (size_t i = 0; i < shadow.locks.capacity; i++)
        if (shadow.locks.slots[i].known) visit(shadow.locks.slots[i].known);
}
