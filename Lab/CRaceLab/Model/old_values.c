// Which stores an atomic load may read: coherence, and the order of sequentially consistent
// operations.

#include "Model/old_values.h"

#include "Model/happens_before.h"
#include "Platform/memory.h"
#include "Search/execution.h"
#include "State/shadow.h"

#include <string.h>

/// A thread has read the store with this index, at this moment.
typedef struct {
    int8_t thread;
    uint32_t clock, store;
} reading;

typedef struct {
    store_record *stores;  // in modification order
    size_t count, capacity;
    size_t first;  // the oldest one that can be read
    reading *readings;
    size_t reading_count, reading_capacity;
} variable;

#define NO_VARIABLE 0  // they are numbered from 1

/// An atomic operation or a fence, for the order of sequentially consistent operations. What
/// happens before it is what `ordered` covers.
typedef struct {
    enum { IS_LOAD, IS_STORE, IS_FENCE } kind;
    int8_t thread;
    bool is_sc;
    size_t variable;  // of a fence: NO_VARIABLE
    size_t position;  // 2 * index of the store, + 1 if it only reads it
    uint32_t clock, ordered[RL_MAX_THREADS];
    size_t previous;   // the event of the thread before it, + 1; 0: none
    uint32_t left_at;  // when the thread first did something other than access this variable; or 0
    uint32_t came_from[RL_MAX_THREADS];  // what the last such thing before it covers
} event;

/// What a thread has done last.
typedef struct {
    size_t last_event;                   // + 1; 0: none
    size_t variable;                     // of the last thing; NO_VARIABLE: it was no access to one
    uint32_t came_from[RL_MAX_THREADS];  // what the last thing before that covers, elsewhere
} recent;

static struct {
    variable *variables;
    size_t variable_count, variable_capacity;
    event *events;
    size_t event_count, event_capacity;
    bool has_sc;
    recent recent[RL_MAX_THREADS];
    uint8_t *marks;  // of the search for a cycle
    size_t mark_capacity;
} memory;

RL_OF_RUN(memory)

// MARK: - Variables

static size_t number_of_variable(const void *address) {
    cell *c = rl_cell_at((uintptr_t)address);
    if (c->variable > 0) return c->variable;
    MAKE_ROOM(memory.variables, memory.variable_count, memory.variable_capacity, 16);
    memory.variables[memory.variable_count++] = (variable){0};
    return c->variable = memory.variable_count;
}

static variable *variable_with(size_t number) { return &memory.variables[number - 1]; }

static bool are_equal(atomic_value a, atomic_value b) { return a.low == b.low && a.high == b.high; }

static void add_store(variable *v, store_record store) {
    MAKE_ROOM(v->stores, v->count, v->capacity, 8);
    v->stores[v->count++] = store;
}

/// A thread comes to a variable, or to a fence.
static void come_to(const thread *t, size_t at) {
    recent *r = &memory.recent[t - lab.run.threads];
    if (at != NO_VARIABLE && r->variable == at && !t->advanced_at) return;
    memcpy(r->came_from, t->clock.ordered, sizeof r->came_from);
}

void rl_meet_fence(void) { come_to(my_thread(), NO_VARIABLE); }

void rl_meet_variable(const void *address, atomic_value now) {
    const size_t at = number_of_variable(address);
    come_to(my_thread(), at);
    variable *v = variable_with(at);
    if (v->count > 0 && are_equal(v->stores[v->count - 1].value, now)) return;
    // The value was not changed by an atomic operation in a step. From now on it counts as another
    // variable.
    v->first = v->count;
    add_store(v, (store_record){.value = now, .by = NO_THREAD});
}

const store_record *rl_store(const void *address, uint32_t number) {
    return &variable_with(number_of_variable(address))->stores[number - 1];
}

void rl_will_read(const void *address, int order, const atomic_value *expected) {
    my_thread()->reads = (atomic_read){.variable = number_of_variable(address),
                                       .order = order,
                                       .compares = expected,
                                       .expected = expected ? *expected : (atomic_value){0}};
}

/// The oldest store that a thread can read because of coherence: no newer one, and no read of a
/// newer one, happens before the load.
static size_t oldest_coherent(const variable *v, const thread *t) {
    if (rl_has_fault(RL_FAULT_NO_COHERENCE)) return v->first;
    size_t oldest = v->count - 1;
    while (oldest > v->first && v->stores[oldest].clock > t->clock.ordered[v->stores[oldest].by])
        oldest--;
    for (size_t k = 0; k < v->reading_count; k++) {
        const reading *r = &v->readings[k];
        if (r->store > oldest && r->clock <= t->clock.ordered[r->thread]) oldest = r->store;
    }
    return oldest;
}

// MARK: - The order of sequentially consistent operations

static bool acquires(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }

/// Notes in the last events of a thread, as `left_at`, that it goes to another variable or a fence,
/// or has done something other than an atomic operation.
static void go_to(thread *t, size_t at, uint32_t clock) {
    recent *r = &memory.recent[t - lab.run.threads];
    const bool stays = r->variable == at && at != NO_VARIABLE && !t->advanced_at;
    if (stays) return;
    for (size_t i = r->last_event; i > 0; i = memory.events[i - 1].previous) {
        event *e = &memory.events[i - 1];
        if (e->left_at) break;
        const bool is_elsewhere = at == NO_VARIABLE || e->variable != at;
        e->left_at = t->advanced_at ? t->advanced_at : is_elsewhere ? clock : 0;
    }
    r->variable = at;
    t->advanced_at = 0;
}

static uint32_t left_at(const event *e) {
    return e->left_at ? e->left_at : lab.run.threads[e->thread].advanced_at;
}

static event event_of(const thread *t, size_t at, size_t position, int order) {
    const int index = (int)(t - lab.run.threads);
    event e = {.thread = (int8_t)index,
               .variable = at,
               .position = position,
               .is_sc = order == __ATOMIC_SEQ_CST,
               .clock = t->clock.at[index]};
    e.kind = at == NO_VARIABLE ? IS_FENCE : position % 2 == 0 ? IS_STORE : IS_LOAD;
    memcpy(e.ordered, t->clock.ordered, sizeof e.ordered);
    memcpy(e.came_from, memory.recent[index].came_from, sizeof e.came_from);
    e.previous = memory.recent[index].last_event;
    return e;
}

static void push_event(event e) {
    MAKE_ROOM(memory.events, memory.event_count, memory.event_capacity, 64);
    memory.events[memory.event_count++] = e;
}

static void add_event(event e) {
    go_to(&lab.run.threads[e.thread], e.variable, e.clock);
    push_event(e);
    memory.recent[e.thread].last_event = memory.event_count;
    memory.has_sc |= e.is_sc;
}

static bool happens_before(size_t a, size_t b) {
    const event *x = &memory.events[a], *y = &memory.events[b];
    return a < b && x->clock <= y->ordered[x->thread];
}

/// Whether one event precedes another one at the same variable, as reads, stores and their order
/// show (`eco`).
static bool communicates(size_t a, size_t b) {
    const event *x = &memory.events[a], *y = &memory.events[b];
    return x->variable != NO_VARIABLE && x->variable == y->variable && x->position < y->position;
}

/// `scb` of the paper: program order; what happens before, at the same variable or around events
/// elsewhere; modification order; and reads before newer stores.
static bool is_base(size_t a, size_t b) {
    const event *x = &memory.events[a], *y = &memory.events[b];
    if (a == b) return false;
    if (x->thread == y->thread) return a < b || (communicates(a, b) && y->kind == IS_STORE);
    if (communicates(a, b) && y->kind == IS_STORE) return true;
    if (x->variable == y->variable && x->variable != NO_VARIABLE && happens_before(a, b))
        return true;
    return a < b && left_at(x) && left_at(x) <= y->came_from[x->thread];
}

/// Whether one sequentially consistent event comes before another one (`psc`).
static bool is_sc_before(size_t a, size_t b) {
    const bool from_fence = memory.events[a].kind == IS_FENCE;
    const bool to_fence = memory.events[b].kind == IS_FENCE;
    if (!from_fence && !to_fence) return is_base(a, b);
    if (from_fence && to_fence && happens_before(a, b)) return true;
    for (size_t x = from_fence ? 0 : a; x < memory.event_count; x++) {
        if (x != a && !(from_fence && happens_before(a, x))) continue;
        for (size_t y = to_fence ? 0 : b; y < memory.event_count; y++) {
            const bool ends = y == b || (to_fence && happens_before(y, b));
            if (ends && is_base(x, y)) return true;
            const bool is_between = from_fence && to_fence && x != a && y != b;
            if (ends && is_between && communicates(x, y)) return true;
            if (!to_fence) break;
        }
        if (!from_fence) break;
    }
    return false;
}

enum { IS_NEW, IS_OPEN, IS_CLOSED };

static bool leads_to_cycle(size_t from) {
    if (memory.marks[from] != IS_NEW) return memory.marks[from] == IS_OPEN;
    memory.marks[from] = IS_OPEN;
    for (size_t to = 0; to < memory.event_count; to++)
        if (to != from && memory.events[to].is_sc && is_sc_before(from, to) && leads_to_cycle(to))
            return true;
    memory.marks[from] = IS_CLOSED;
    return false;
}

/// Whether the order has a cycle if this event comes next.
static bool makes_cycle(event e) {
    if (!memory.has_sc || rl_has_fault(RL_FAULT_NO_SC_ORDER)) return false;
    push_event(e);
    if (memory.mark_capacity < memory.event_count) {
        memory.mark_capacity = 2 * memory.event_count;
        memory.marks = rl_grown_in_run(NULL, 0, memory.mark_capacity, 1);
    }
    memset(memory.marks, IS_NEW, memory.event_count);
    bool has_cycle = false;
    for (size_t i = 0; i < memory.event_count && !has_cycle; i++)
        has_cycle = memory.events[i].is_sc && leads_to_cycle(i);
    memory.event_count--;
    return has_cycle;
}

// MARK: - Choosing a store

/// Whether the next step of a thread can read the store with this index, which is not older than
/// the oldest coherent one.
static bool can_read(const thread *t, size_t index) {
    const variable *v = variable_with(t->reads.variable);
    if (index + 1 == v->count) return true;
    if (t->reads.compares && are_equal(v->stores[index].value, t->reads.expected)) return false;
    event e = event_of(t, t->reads.variable, 2 * index + 1, t->reads.order);
    if (acquires(t->reads.order)) rl_join_times(e.ordered, v->stores[index].released.ordered);
    return !makes_cycle(e);
}

bool rl_may_read(int index, uint32_t store) {
    const thread *t = &lab.run.threads[index];
    if (!t->chooses_value) return false;
    const variable *v = variable_with(t->reads.variable);
    return store <= v->count && store > oldest_coherent(v, t) && can_read(t, store - 1);
}

/// The oldest store to offer. A thread that repeats a loop in which it changes nothing reads the
/// newest one: to read an old one again would repeat the loop once more.
static size_t oldest_offered(int index, const variable *v) {
    const thread *t = &lab.run.threads[index];
    if (t->repeats || rl_has_fault(RL_FAULT_NO_OLD_VALUES)) return v->count - 1;
    const size_t oldest = oldest_coherent(v, t);
    return oldest < lab.run.slept[index] ? lab.run.slept[index] : oldest;
}

uint32_t rl_nth_readable(int index, uint32_t nth) {
    const thread *t = &lab.run.threads[index];
    const variable *v = variable_with(t->reads.variable);
    size_t at = v->count - 1;
    for (; nth > 0; nth--) do
            at--;
        while (!can_read(t, at));
    return (uint32_t)at + 1;
}

uint32_t rl_count_readable(int index) {
    const thread *t = &lab.run.threads[index];
    if (!t->chooses_value) return 1;
    const variable *v = variable_with(t->reads.variable);
    uint32_t count = 0;
    for (size_t i = v->count; i-- > oldest_offered(index, v);) count += can_read(t, i);
    return count;
}

static void note_other_values(int index, const variable *v, size_t chosen) {
    const size_t oldest = oldest_offered(index, v);
    for (size_t i = v->count; i-- > oldest;)
        if (i != chosen && can_read(&lab.run.threads[index], i))
            rl_note_other_value((uint32_t)index | (uint32_t)(i + 1) << RL_STORE_SHIFT);
}

void rl_choose_store(int index, uint32_t store, rl_step *step) {
    thread *t = &lab.run.threads[index];
    if (!t->chooses_value) return;
    const variable *v = variable_with(t->reads.variable);
    const size_t newest = v->count - 1, chosen = store ? store - 1 : newest;
    t->reads.store = (uint32_t)chosen + 1;
    step->is_old = chosen < newest;
    if (!t->repeats || step->is_old) step->reads = t->reads.store;
    if (step->is_old) {
        t->old_reads++;
        step->old_value = v->stores[chosen].value.low;
        step->missed_pc = v->stores[chosen + 1].pc;
    }
    note_other_values(index, v, chosen);
}

// MARK: - What the threads do

void rl_note_load(const void *address, uint32_t store, int order) {
    const size_t at = number_of_variable(address);
    variable *v = variable_with(at);
    const thread *t = my_thread();
    MAKE_ROOM(v->readings, v->reading_count, v->reading_capacity, 16);
    v->readings[v->reading_count++] =
        (reading){(int8_t)me->thread, t->clock.at[me->thread], store - 1};
    add_event(event_of(t, at, 2 * (size_t)(store - 1) + 1, order));
}

uint32_t rl_note_store(const void *address, atomic_value value, int order,
                       const vector_clock *released) {
    const size_t at = number_of_variable(address);
    variable *v = variable_with(at);
    const thread *t = my_thread();
    event e = event_of(t, at, 2 * v->count, order);
    add_store(v, (store_record){.value = value,
                                .by = (int8_t)me->thread,
                                .clock = e.clock,
                                .pc = t->pc,
                                .released = *released});
    add_event(e);
    lab.steps[lab.run.step_count - 1].stores = (uint32_t)v->count;
    return (uint32_t)v->count;
}

void rl_note_fence(int order) { add_event(event_of(my_thread(), NO_VARIABLE, 0, order)); }

void rl_note_other_step(int index) {
    thread *t = &lab.run.threads[index];
    go_to(t, NO_VARIABLE, t->clock.at[index]);
}
