// Atomic operations and fences.

#include "Primitives/atomic.h"

#include "Model/happens_before.h"
#include "Platform/stack.h"
#include "Primitives/families.h"
#include "Primitives/mutex.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/observe.h"
#include "Scheduler/points.h"
#include "Search/waking.h"
#include "State/shadow.h"
#include "Symbols/call_sites.h"

#ifndef RL_WITHOUT_HOOKS

#include <string.h>

// MARK: - Memory orderings

// Values are sequentially consistent: an atomic read returns the last value written. Whether it
// also orders other accesses depends on the memory orderings, as in C++20.

static bool acquires(int order) {
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

static bool releases(int order) {
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static int effective(int order) {
    if (order == RL_UNORDERED) return __ATOMIC_RELAXED;
    if (order != __ATOMIC_SEQ_CST) lab.summary.has_weak_orderings = true;
    return lab.scenario->faults & RL_FAULT_EVERY_ATOMIC_ORDERS ? __ATOMIC_SEQ_CST : order;
}

/// The effect of an atomic read on the clocks.
static void read_atomic(thread *t, int order) {
    const cell *c = rl_cell_at(t->address);
    rl_join_times(t->clock.at, c->released.at);
    rl_join_times(t->read, c->released.ordered);
    if (acquires(effective(order))) rl_join_times(t->clock.ordered, c->released.ordered);
}

/// The same for a write. That of a read-modify-write operation continues the release sequence that it
/// finds.
static void write_atomic(thread *t, int order, bool is_read_modify_write) {
    cell *c = rl_cell_at(t->address);
    if (is_read_modify_write) {
        read_atomic(t, order);
    } else {
        rl_join_times(t->clock.at, c->released.at);
        memset(c->released.ordered, 0, sizeof c->released.ordered);
    }
    rl_join_times(c->released.at, t->clock.at);
    rl_join_times(c->released.ordered, releases(effective(order)) ? t->clock.ordered : t->fenced);
    rl_tick((int)(t - lab.threads));
}

/// A fence. Not a point: only this thread's own atomic operations can show its effect.
static void fence(int order) {
    if (me->fate != STAYS) rl_give_up();
    thread *t = my_thread();
    t->accesses++;
    if (acquires(effective(order))) rl_join_times(t->clock.ordered, t->read);
    if (!releases(effective(order))) return;
    memcpy(t->fenced, t->clock.ordered, sizeof t->fenced);
    // The fence releases only what came before it.
    rl_advance(t);
}

// MARK: - Operations

static void load(int index, thread *t, uint32_t step) {
    (void)index, (void)step;
    read_atomic(t, t->order);
}

static void store(int index, thread *t, uint32_t step) {
    (void)index, (void)step;
    write_atomic(t, t->order, false);
}

const rl_operation rl_atomic_load = {.kind = RL_ATOMIC_READ, .carry_out = load};
static const rl_operation atomic_store_to = {.kind = RL_ATOMIC_WRITE, .carry_out = store};
static const rl_operation exchange = {.kind = RL_EXCHANGE, .completes_later = true};

void rl_atomic_point(const rl_operation *operation, const void *address, rl_place place, int order) {
    my_thread()->order = order;
    rl_point(operation, address, place);
}

/// The result of an exchange that always writes: whether the value has changed.
static void swapped(bool changes, int order) {
    int index = me->thread;
    thread *t = &lab.threads[index];
    write_atomic(t, order, true);
    // A thread that writes the same value again publishes what it did before, but it may be
    // spinning.
    rl_did(index, RL_ATOMIC_WRITE, t->address, changes);
    rl_clean_stack();
}

/// The result of an exchange that compares first.
static void exchanged(uint32_t step, bool done, int order, int order_of_failure) {
    RL_REQUIRE(my_thread()->kind == RL_EXCHANGE, "the last step was no exchange");
    lab.steps[step].failed = !done;
    if (done) return swapped(true, order);
    thread *t = my_thread();
    read_atomic(t, order_of_failure);
    rl_did(me->thread, RL_ATOMIC_READ, t->address, false);
    rl_clean_stack();
}

// MARK: - Entry points

// Code compiled with `-sanitize=thread` calls these functions in place of atomic instructions, with
// the memory ordering as the last argument. The lab runs one thread at a time, so all values are
// sequentially consistent. The given ordering only decides which happens-before edges the operation
// creates.

/// Whether an operation is a step. If it is in code that has no line, `*place` becomes that of the
/// nearest caller that has one.
static bool is_point(const volatile void *address, rl_place *place) {
    if (rl_is_observing) rl_observer_uses_atomic();
    if (!rl_active) return false;
    if (rl_is_compilers_own(place->pc)) {
        if (rl_is_compilers_cache(place->pc, (uintptr_t)address)) return false;
        *place = rl_place_in_source(*place);
    }
    return rl_sees(RL_ATOMICS, *place);
}

// A read-modify-write operation. If it writes the value that is already there, it changes nothing:
// a thread may spin on a flag by exchanging it.
#define SWAP(type, a, operation, new_value, order)                                \
    ({                                                                            \
        rl_place place = RL_CALLER;                                               \
        bool point = is_point(a, &place);                                         \
        if (point) rl_point(&exchange, (const void *)(a), place);               \
        type old = operation;                                                     \
        if (point) swapped((type)(new_value) != old, order);                   \
        old;                                                                      \
    })

#define FETCH(bits, type, name, new_value)                                                       \
    type __tsan_atomic##bits##_fetch_##name(volatile type *a, type value, int order) {           \
        return SWAP(type, a, __atomic_fetch_##name(a, value, __ATOMIC_SEQ_CST), new_value,       \
                    order);                                                                      \
    }

#define ATOMICS(bits, type, RECOGNISE)                                                           \
    type __tsan_atomic##bits##_load(const volatile type *a, int order) {                         \
        rl_place place = RL_CALLER;                                                              \
        if (is_point(a, &place)) rl_atomic_point(&rl_atomic_load, (const void *)a, place, order); \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                             \
    }                                                                                            \
    void __tsan_atomic##bits##_store(volatile type *a, type value, int order) {                  \
        rl_place place = RL_CALLER;                                                              \
        if (is_point(a, &place))                                                                 \
            rl_atomic_point(&atomic_store_to, (const void *)a, place, order);                     \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                            \
    }                                                                                            \
    type __tsan_atomic##bits##_exchange(volatile type *a, type value, int order) {               \
        return SWAP(type, a, __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST), value, order);     \
    }                                                                                            \
    FETCH(bits, type, add, old + value)                                                          \
    FETCH(bits, type, sub, old - value)                                                          \
    FETCH(bits, type, and, old & value)                                                          \
    FETCH(bits, type, or, old | value)                                                           \
    FETCH(bits, type, xor, old ^ value)                                                          \
    FETCH(bits, type, nand, ~(old & value))                                                      \
    static bool exchange##bits(volatile type *a, type *expected, type desired, int order,        \
                               int otherwise, rl_place place) {                                  \
        bool point = is_point(a, &place);                                                        \
        uint32_t step = point ? rl_point(&exchange, (const void *)a, place) : 0;               \
        bool done = __atomic_compare_exchange_n(a, expected, desired, false, __ATOMIC_SEQ_CST,   \
                                                __ATOMIC_SEQ_CST);                               \
        if (point) exchanged(step, done, order, otherwise);                                   \
        return done;                                                                             \
    }                                                                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected,             \
                                                    type desired, int order, int otherwise) {    \
        RECOGNISE                                                                                \
        exchange##bits(a, &expected, desired, order, otherwise, RL_CALLER);                      \
        return expected;                                                                         \
    }                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *expected,          \
                                                      type desired, int order, int otherwise) {  \
        return exchange##bits(a, expected, desired, order, otherwise, RL_CALLER);                \
    }                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *expected,            \
                                                    type desired, int order, int otherwise) {    \
        return exchange##bits(a, expected, desired, order, otherwise, RL_CALLER);                \
    }

#define RECOGNISE_MUTEX                                                                          \
    uint32_t seen;                                                                               \
    if (rl_is_observing) rl_observe_mutex(a, expected, desired);                                    \
    if (rl_active && rl_is_mutex_exchange(a, expected, desired, &seen)) return seen;

ATOMICS(8, uint8_t, )
ATOMICS(16, uint16_t, )
ATOMICS(32, uint32_t, RECOGNISE_MUTEX)
ATOMICS(64, uint64_t, )
#if defined(__SIZEOF_INT128__)
// On x86-64 these call the functions in atomic16.c.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Watomic-alignment"
ATOMICS(128, __uint128_t, )
#pragma clang diagnostic pop
#endif

void __tsan_atomic_thread_fence(int order) {
    if (rl_is_under_test(RL_CALLER.pc) && rl_sees(RL_FENCES, RL_CALLER)) fence(order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

// The methods of `AtomicLazyReference` are not inlined into the program.
#define LOAD_LAZY "$s15Synchronization19AtomicLazyReferenceV4loadxSgyF"
#define STORE_LAZY "$s15Synchronization19AtomicLazyReferenceV10storeIfNilyxxnF"

typedef SWIFT_FUNCTION void *(*load_lazy)(const void *type, SWIFT_SELF void *reference);
typedef SWIFT_FUNCTION void *(*store_lazy)(void *object, const void *type,
                                           SWIFT_SELF void *reference);
REAL(load_lazy, real_load_lazy, LOAD_LAZY)
REAL(store_lazy, real_store_lazy, STORE_LAZY)
SWIFT_FUNCTION void *rl_load_lazy(const void *type, SWIFT_SELF void *reference) __asm__(LOAD_LAZY);
SWIFT_FUNCTION void *rl_store_lazy(void *object, const void *type, SWIFT_SELF void *reference)
    __asm__(STORE_LAZY);

SWIFT_FUNCTION void *rl_load_lazy(const void *type, SWIFT_SELF void *reference) {
    rl_place place = rl_place_in_source(RL_CALLER);
    if (is_point(reference, &place))
        rl_atomic_point(&rl_atomic_load, reference, place, __ATOMIC_ACQUIRE);
    return real_load_lazy()(type, reference);
}

SWIFT_FUNCTION void *rl_store_lazy(void *object, const void *type, SWIFT_SELF void *reference) {
    rl_place place = rl_place_in_source(RL_CALLER);
    const bool point = is_point(reference, &place);
    const uint32_t step = point ? rl_point(&exchange, reference, place) : 0;
    void *stored = real_store_lazy()(object, type, reference);
    if (point) exchanged(step, stored == object, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return stored;
}

#endif
