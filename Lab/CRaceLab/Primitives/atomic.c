// Atomic operations and fences.

#include "Model/happens_before.h"
#include "Model/old_values.h"
#include "Platform/stack.h"
#include "Primitives/families.h"
#include "Primitives/mutex.h"
#include "Primitives/next_symbol.h"
#include "Primitives/plain_memory.h"
#include "Primitives/points.h"
#include "Scheduler/observe.h"
#include "Search/waking.h"
#include "State/blocks.h"
#include "State/shadow.h"

#ifndef RL_WITHOUT_HOOKS

#include <string.h>

// MARK: - Memory orderings

// The memory orderings decide which accesses an operation orders, as in C++20, and, once a run has
// shown one that is weaker than sequentially consistent, what it may read: see old_values.h.

static bool acquires(int order) { return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE; }

static bool releases(int order) {
    return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

static int effective(int order) {
    if (order != __ATOMIC_SEQ_CST) rl_exploration.summary.has_weak_orderings = true;
    return rl_exploration.scenario->faults & RL_FAULT_EVERY_ATOMIC_ORDERS ? __ATOMIC_SEQ_CST
                                                                          : order;
}

/// The ordering of the operation at a place: that in the source, or the one that is tried instead.
static int ordering_of(rl_place place, int kind, int order) {
    rl_summary *s = &rl_exploration.summary;
    uint32_t i = 0;
    for (; i < s->ordering_count; i++)
        if (s->orderings[i].pc == place.pc && s->orderings[i].kind == kind) break;
    if (i == s->ordering_count && i < RL_MAX_ORDERINGS) {
        s->orderings[i] = (rl_ordering){.pc = place.pc, .kind = kind, .order = order};
        s->ordering_count++;
    }
    const rl_ordering *instead = &rl_exploration.scenario->instead;
    return instead->pc == place.pc && instead->kind == kind ? instead->order : order;
}

static uint64_t hash_of(atomic_value value) {
    return value.low * 0x9E3779B97F4A7C15ull ^ value.high * 0xC2B2AE3D27D4EB4Full;
}

/// The effect of an atomic read on the clocks. `released`: by the store that it reads.
static void read_released(thread *t, const vector_clock *released, int order) {
    rl_join_times(t->clock.at, released->at);
    rl_join_times(t->read, released->ordered);
    if (acquires(effective(order))) rl_join_times(t->clock.ordered, released->ordered);
}

static void read_atomic(thread *t, int order) {
    read_released(t, &rl_cell_at(t->address)->released, order);
}

/// The effect of an atomic read of a store that may be old.
static void read_store(thread *t, int order, rl_kind kind) {
    const void *address = (const void *)t->address;
    read_released(t, &rl_store(address, t->reads.store)->released, order);
    rl_note_load(address, t->reads.store, effective(order));
    if (t->repeats)
        rl_did((int)(t - lab.run.threads), RL_ATOMIC_READ, t->address, false);
    else
        rl_did_read(kind, t->address, t->reads.store, hash_of(t->reads.expected));
}

/// The thread writes a word, which may be the address of a block.
static void pass_on(uint64_t word) {
    int owner;
    block_of_memory *b = rl_block_of_any(word, &owner);
    if (b) b->is_passed_on = true;
}

/// The same for a write. That of a read-modify-write operation continues the release sequence that
/// it finds. Returns the number of the store; 0: the stores are not kept.
static uint32_t write_atomic(thread *t, int order, bool is_read_modify_write, bool keeps) {
    uint32_t number = 0;
    cell *c = rl_cell_at(t->address);
    if (is_read_modify_write) {
        read_atomic(t, order);
    } else {
        rl_join_times(t->clock.at, c->released.at);
        memset(c->released.ordered, 0, sizeof c->released.ordered);
    }
    rl_join_times(c->released.at, t->clock.at);
    rl_join_times(c->released.ordered, releases(effective(order)) ? t->clock.ordered : t->fenced);
    if (keeps) {
        number = rl_note_store((const void *)t->address, t->writes, effective(order), &c->released);
        pass_on(t->writes.low);
        pass_on(t->writes.high);
    }
    rl_tick((int)(t - lab.run.threads));
    if (keeps) t->advanced_at = 0;
    return number;
}

static void wrote(thread *t, uint32_t store, bool changes) {
    const int index = (int)(t - lab.run.threads);
    rl_note_change(t->address, t->pc);
    if (store == 0) return rl_did(index, RL_ATOMIC_WRITE, t->address, changes);
    const uint64_t replaced = hash_of(rl_store((const void *)t->address, store - 1)->value);
    rl_did_store(index, t->address, changes, store, replaced);
}

/// A fence. Not a point: only this thread's own atomic operations can show its effect.
static void fence(int order) {
    if (me->fate != STAYS) rl_give_up();
    thread *t = my_thread();
    t->accesses++;
    const bool keeps = rl_exploration.scenario->keeps_stores && order != __ATOMIC_RELAXED;
    if (keeps) rl_meet_fence();
    if (acquires(effective(order))) rl_join_times(t->clock.ordered, t->read);
    if (keeps) rl_note_fence(effective(order));
    if (!releases(effective(order))) return;
    memcpy(t->fenced, t->clock.ordered, sizeof t->fenced);
    // The fence releases only what came before it.
    rl_advance(t);
    if (keeps) t->advanced_at = 0;
}

// MARK: - Operations

static void load(thread *t) { read_atomic(t, t->order); }

static void store(thread *t) { write_atomic(t, t->order, false, false); }

static void load_one(thread *t) { read_store(t, t->order, RL_LOAD); }

static void keep_store(thread *t) { wrote(t, write_atomic(t, t->order, false, true), true); }

static const rl_operation atomic_load_of = {.kind = RL_ATOMIC_READ, .carry_out = load};
static const rl_operation atomic_store_to = {.kind = RL_ATOMIC_WRITE, .carry_out = store};
static const rl_operation exchange = {.kind = RL_EXCHANGE, .completes_later = true};

// The same, where the stores are kept.
static const rl_operation load_of_several = {
    .kind = RL_ATOMIC_READ,
    .completes_later = true,
    .is_atomic = true,
    .chooses_value = true,
    .carry_out = load_one,
};
static const rl_operation kept_store = {
    .kind = RL_ATOMIC_WRITE,
    .completes_later = true,
    .is_atomic = true,
    .carry_out = keep_store,
};
static const rl_operation kept_exchange = {
    .kind = RL_EXCHANGE,
    .completes_later = true,
    .is_atomic = true,
};
static const rl_operation kept_comparison = {
    .kind = RL_EXCHANGE,
    .completes_later = true,
    .is_atomic = true,
    .chooses_value = true,
};

/// A point before an atomic operation. `order` is its memory ordering (`__ATOMIC_…`).
static void atomic_point(const rl_operation *operation, const void *address, rl_place place,
                         int order) {
    my_thread()->order = order;
    rl_point(operation, address, place);
}

/// Whether the stores to a variable are kept. Those to a variable on a stack are not: others may
/// follow at the same address.
static bool keeps_stores(const void *address) {
    const uintptr_t a = (uintptr_t)address;
    if (!rl_exploration.scenario->keeps_stores || rl_is_in_frame(my_thread(), a)) return false;
    const bool is_own_stack = a >= (uintptr_t)__builtin_frame_address(0) && a < me->stack_base;
    return !is_own_stack && rl_owner_of_stack(a) == NO_THREAD;
}

/// The point of a load where the stores are kept. Returns whether it reads an old value.
static bool loads_old(const void *address, rl_place place, int order, atomic_value *value) {
    rl_meet_variable(address, *value);
    rl_will_read(address, order, NULL);
    my_thread()->order = order;
    const uint32_t step = rl_point(&load_of_several, address, place);
    if (!lab.steps[step].is_old) return false;
    *value = rl_store(address, my_thread()->reads.store)->value;
    return true;
}

/// Records the effect of an exchange that always writes. `changes`: it writes another value.
static void swapped(bool changes, int order) {
    thread *t = my_thread();
    // A thread that writes the same value again publishes what it did before, but it may be
    // spinning.
    wrote(t, write_atomic(t, order, true, t->operation->is_atomic), changes);
    rl_clean_stack();
}

static void failed(uint32_t step, int order) {
    thread *t = my_thread();
    lab.steps[step].failed = true;
    if (t->operation->chooses_value) {
        read_store(t, order, RL_FAILED_EXCHANGE);
    } else {
        read_atomic(t, order);
        rl_did(me->thread, RL_ATOMIC_READ, t->address, false);
    }
    rl_clean_stack();
}

/// The point of an exchange that compares, where the stores are kept. Returns whether it fails on
/// an old value.
static bool fails_on_old(const void *address, rl_place place, int order, atomic_value expected,
                         atomic_value *value, uint32_t *step) {
    rl_meet_variable(address, *value);
    rl_will_read(address, order, &expected);
    *step = rl_point(&kept_comparison, address, place);
    if (!lab.steps[*step].is_old) return false;
    *value = rl_store(address, my_thread()->reads.store)->value;
    failed(*step, order);
    return true;
}

/// Records the effect of an exchange that compares first.
static void exchanged(uint32_t step, bool done, int order, int order_of_failure) {
    RL_REQUIRE(my_thread()->kind == RL_EXCHANGE, "the last step was no exchange");
    lab.steps[step].failed = !done;
    return done ? swapped(true, order) : failed(step, order_of_failure);
}

// MARK: - Entry points

// Code compiled with `-sanitize=thread` calls these functions in place of atomic instructions, with
// the memory ordering as the last argument. The lab runs one thread at a time, and the memory
// always has the newest value.

#define VALUE(x) \
    ((atomic_value){(uint64_t)(x), sizeof(x) > 8 ? (uint64_t)((__uint128_t)(x) >> 64) : 0})
#define FROM_VALUE(type, v) \
    ((type)(sizeof(type) > 8 ? (__uint128_t)(v).high << 64 | (v).low : (v).low))
#define NOW(a) VALUE(__atomic_load_n(a, __ATOMIC_SEQ_CST))

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
#define SWAP(type, a, operation, new_value, order)                                         \
    ({                                                                                     \
        rl_place place = RL_CALLER;                                                        \
        bool point = is_point(a, &place);                                                  \
        const bool keeps = point && keeps_stores((const void *)(a));                       \
        const int chosen = point ? ordering_of(place, RL_OF_OPERATION, order) : order;     \
        if (keeps) rl_meet_variable((const void *)(a), NOW(a));                            \
        if (point) rl_point(keeps ? &kept_exchange : &exchange, (const void *)(a), place); \
        type old = operation;                                                              \
        if (keeps) my_thread()->writes = VALUE((type)(new_value));                         \
        if (point) swapped((type)(new_value) != old, chosen);                              \
        old;                                                                               \
    })

#define FETCH(bits, type, name, new_value)                                                         \
    type __tsan_atomic##bits##_fetch_##name(volatile type *a, type value, int order) {             \
        return SWAP(type, a, __atomic_fetch_##name(a, value, __ATOMIC_SEQ_CST), new_value, order); \
    }

#define ATOMICS(bits, type, RECOGNIZE)                                                             \
    type __tsan_atomic##bits##_load(const volatile type *a, int order) {                           \
        rl_place place = RL_CALLER;                                                                \
        if (is_point(a, &place)) {                                                                 \
            order = ordering_of(place, RL_OF_OPERATION, order);                                    \
            atomic_value value = NOW(a);                                                           \
            if (!keeps_stores((const void *)a))                                                    \
                atomic_point(&atomic_load_of, (const void *)a, place, order);                      \
            else if (loads_old((const void *)a, place, order, &value))                             \
                return FROM_VALUE(type, value);                                                    \
        }                                                                                          \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *a, type value, int order) {                    \
        rl_place place = RL_CALLER;                                                                \
        if (is_point(a, &place)) {                                                                 \
            order = ordering_of(place, RL_OF_OPERATION, order);                                    \
            const bool keeps = keeps_stores((const void *)a);                                      \
            if (keeps) rl_meet_variable((const void *)a, NOW(a));                                  \
            if (keeps) my_thread()->writes = VALUE(value);                                         \
            atomic_point(keeps ? &kept_store : &atomic_store_to, (const void *)a, place, order);   \
        }                                                                                          \
        __atomic_store_n(a, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type *a, type value, int order) {                 \
        return SWAP(type, a, __atomic_exchange_n(a, value, __ATOMIC_SEQ_CST), value, order);       \
    }                                                                                              \
    FETCH(bits, type, add, old + value)                                                            \
    FETCH(bits, type, sub, old - value)                                                            \
    FETCH(bits, type, and, old &value)                                                             \
    FETCH(bits, type, or, old | value)                                                             \
    FETCH(bits, type, xor, old ^ value)                                                            \
    FETCH(bits, type, nand, ~(old & value))                                                        \
    static bool exchange##bits(volatile type *a, type *expected, type desired, int order,          \
                               int otherwise, rl_place place) {                                    \
        bool point = is_point(a, &place);                                                          \
        uint32_t step = 0;                                                                         \
        const bool keeps = point && keeps_stores((const void *)a);                                 \
        if (point) {                                                                               \
            order = ordering_of(place, RL_OF_OPERATION, order);                                    \
            otherwise = ordering_of(place, RL_OF_FAILURE, otherwise);                              \
        }                                                                                          \
        if (point && !keeps) step = rl_point(&exchange, (const void *)a, place);                   \
        if (keeps) {                                                                               \
            atomic_value value = NOW(a);                                                           \
            if (fails_on_old((const void *)a, place, otherwise, VALUE(*expected), &value,          \
                             &step)) {                                                             \
                *expected = FROM_VALUE(type, value);                                               \
                return false;                                                                      \
            }                                                                                      \
            my_thread()->writes = VALUE(desired);                                                  \
        }                                                                                          \
        bool done = __atomic_compare_exchange_n(a, expected, desired, false, __ATOMIC_SEQ_CST,     \
                                                __ATOMIC_SEQ_CST);                                 \
        if (point) exchanged(step, done, order, otherwise);                                        \
        return done;                                                                               \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, type desired, \
                                                    int order, int otherwise) {                    \
        RECOGNIZE                                                                                  \
        exchange##bits(a, &expected, desired, order, otherwise, RL_CALLER);                        \
        return expected;                                                                           \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *expected,            \
                                                      type desired, int order, int otherwise) {    \
        return exchange##bits(a, expected, desired, order, otherwise, RL_CALLER);                  \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *expected,              \
                                                    type desired, int order, int otherwise) {      \
        return exchange##bits(a, expected, desired, order, otherwise, RL_CALLER);                  \
    }

#if defined(__linux__)
#define RECOGNIZE_MUTEX                                \
    uint32_t seen;                                     \
    const bool matters = rl_active || rl_is_observing; \
    const uintptr_t pc = RL_CALLER.pc;                 \
    if (matters && rl_is_mutex_exchange(a, expected, desired, pc, &seen)) return seen;
#else
#define RECOGNIZE_MUTEX
#endif

ATOMICS(8, uint8_t, )
ATOMICS(16, uint16_t, )
ATOMICS(32, uint32_t, RECOGNIZE_MUTEX)
ATOMICS(64, uint64_t, )
// On x86-64 these call the functions in atomic16.c.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Watomic-alignment"
ATOMICS(128, __uint128_t, )
#pragma clang diagnostic pop

void __tsan_atomic_thread_fence(int order) {
    if (rl_is_under_test(RL_CALLER.pc) && rl_sees(RL_FENCES, RL_CALLER))
        fence(ordering_of(RL_CALLER, RL_OF_FENCE, order));
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

// The methods of `AtomicLazyReference` are not inlined into the program.
#define LOAD_LAZY "$s15Synchronization19AtomicLazyReferenceV4loadxSgyF"
#define STORE_LAZY "$s15Synchronization19AtomicLazyReferenceV10storeIfNilyxxnF"

NAMED(LOAD_LAZY, SWIFT_FUNCTION void *rl_load_lazy(const void *type, SWIFT_SELF void *reference)) {
    rl_place place = rl_place_in_source(RL_CALLER);
    if (is_point(reference, &place)) {
        atomic_value value = NOW((uintptr_t *)reference);
        if (!keeps_stores(reference))
            atomic_point(&atomic_load_of, reference, place, __ATOMIC_ACQUIRE);
        else if (loads_old(reference, place, __ATOMIC_ACQUIRE, &value))
            return NULL;  // the only old value
    }
    return REAL_AT(rl_load_lazy, LOAD_LAZY)(type, reference);
}

NAMED(STORE_LAZY, SWIFT_FUNCTION void *rl_store_lazy(void *object, const void *type,
                                                     SWIFT_SELF void *reference)) {
    rl_place place = rl_place_in_source(RL_CALLER);
    const bool point = is_point(reference, &place);
    const bool keeps = point && keeps_stores(reference);
    uint32_t step = 0;
    if (keeps) {
        atomic_value value = NOW((uintptr_t *)reference);
        fails_on_old(reference, place, __ATOMIC_ACQUIRE, VALUE((uintptr_t)0), &value, &step);
        my_thread()->writes = VALUE((uintptr_t)object);
    } else if (point) {
        step = rl_point(&exchange, reference, place);
    }
    // Before the call: it releases an object that is not stored, and the `deinit` may make steps.
    const bool is_stored = *(void **)reference == NULL;
    if (point) exchanged(step, is_stored, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return REAL_AT(rl_store_lazy, STORE_LAZY)(object, type, reference);
}

#endif
