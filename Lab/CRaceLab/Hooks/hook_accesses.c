// The entry points that the lab intercepts. The program itself defines them, so the code under test
// binds to these definitions instead of those of the Swift runtime and the C library. Each waits
// for its turn and then does what the real function does.

#include "Hooks/memory.h"
#include "Hooks/next_symbol.h"
#include "Model/happens_before.h"
#include "Model/locks.h"
#include "Scheduler/observe.h"
#include "Scheduler/points.h"
#include "State/blocks.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#ifndef RL_WITHOUT_HOOKS

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__APPLE__)
#include <os/lock.h>
#endif

// MARK: - Exclusive access: properties, captured variables, globals

static _Thread_local uint64_t heard;
uint64_t rl_heard(void) { return heard; }

typedef void (*begin_access)(void *, void *, uintptr_t, void *);
REAL(begin_access, real_begin_access, "swift_beginAccess")

/// In `flags`: the access may last, and `swift_endAccess` ends it.
enum { IS_TRACKED = 0x20 };

/// Debug code calls this before every access to memory that several threads can reach. Bit 0 of
/// `flags` is 0 for a read and 1 for a modification.
void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *pc) {
    rl_place place = RL_CALLER;
    if (!rl_active) {
        heard++;
        if (rl_is_observing) rl_touch(address);
    } else if (rl_is_under_test(place.pc)) {
        rl_point(flags & 1 ? RL_MODIFY : RL_READ, address, rl_place_in_source(place));
        if (flags & IS_TRACKED) rl_begin_access(address, buffer);
    }
    real_begin_access()(address, buffer, flags, pc);
}

typedef void (*end_access)(void *);
REAL(end_access, real_end_access, "swift_endAccess")

/// Debug code calls this at the end of an access that is tracked.
void swift_endAccess(void *buffer) {
    if (rl_active) rl_end_access(buffer);
    real_end_access()(buffer);
}

typedef void (*once)(void *, void (*)(void *), void *);
REAL(once, real_once, "swift_once")

/// Ignores the initializer. It runs once per process, not once per run, so the first run would
/// otherwise differ from all others.
void swift_once(void *predicate, void (*function)(void *), void *context) {
    rl_ignore();
    real_once()(predicate, function, context);
    rl_attend();
}

// MARK: - Mutex

#if defined(__linux__)

// `Mutex` exchanges 0 for the thread's number in one atomic operation. If that fails, it calls one
// of two functions, one for `lock` and one for `tryLock`. So on a lab thread the atomic operation
// always fails, and these two functions take the lock when the thread has its turn.
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

SWIFT_FUNCTION void rl_mutex_lock(uint32_t number, SWIFT_SELF void *handle) __asm__(LOCK_SLOW);
SWIFT_FUNCTION bool rl_mutex_try_lock(SWIFT_SELF void *handle) __asm__(TRY_LOCK_SLOW);

typedef SWIFT_FUNCTION void (*lock_slow)(uint32_t, SWIFT_SELF void *);
typedef SWIFT_FUNCTION bool (*try_lock_slow)(SWIFT_SELF void *);
REAL(lock_slow, real_lock_slow, LOCK_SLOW)
REAL(try_lock_slow, real_try_lock_slow, TRY_LOCK_SLOW)

// The lab may not see the release. The compiler outlines it into a function; every module has a
// copy, and the linker keeps one, perhaps from a module that is compiled without calls for atomics.
// So the engine inspects the word instead of intercepting the release.
static void release_mutex(void *handle) { atomic_store((_Atomic uint32_t *)handle, 0); }

static bool take(void *handle) {
    uint32_t unlocked = 0;
    bool taken = atomic_compare_exchange_strong((_Atomic uint32_t *)handle, &unlocked,
                                                rl_thread_number());
    if (taken) rl_will_release_silently(handle, release_mutex);
    return taken;
}

SWIFT_FUNCTION void rl_mutex_lock(uint32_t number, SWIFT_SELF void *handle) {
    if (rl_is_observing) rl_observer_locks(handle, release_mutex);
    if (rl_active) {
        rl_point(RL_LOCK, handle, rl_place_in_source(RL_CALLER));
        if (take(handle)) return;
    }
    real_lock_slow()(number, handle);
}

SWIFT_FUNCTION bool rl_mutex_try_lock(SWIFT_SELF void *handle) {
    if (!rl_active) return real_try_lock_slow()(handle);
    uint32_t step = rl_point(RL_TRY_LOCK, handle, rl_place_in_source(RL_CALLER));
    return rl_got_it(step) && take(handle);
}

/// Records that the observing thread takes or releases the lock of a `Mutex`.
static void observe_mutex(volatile uint32_t *word, uint32_t expected, uint32_t desired) {
    uint32_t number = rl_thread_number();
    if (expected == 0 && desired == number) rl_observer_locks((void *)word, release_mutex);
    if (expected == number && desired == 0) rl_observer_unlocks((void *)word);
}

/// Whether these are the operands with which `Mutex` takes or releases its lock. If so, stores the
/// value that the caller reports as the previous one in `*seen`.
static bool is_mutex(volatile uint32_t *word, uint32_t expected, uint32_t desired, uint32_t *seen) {
    uint32_t number = rl_thread_number();
    if (expected == 0 && desired == number) {
        *seen = number ^ 1;  // "taken": the caller calls rl_mutex_lock or rl_mutex_try_lock
        return true;
    }
    if (expected == number && desired == 0) {
        *seen = expected;
        atomic_compare_exchange_strong((_Atomic uint32_t *)word, seen, 0);
        return true;
    }
    return false;
}

#elif defined(__APPLE__)

// On Apple platforms, `Mutex` is an `os_unfair_lock`; function calls take and release it.
typedef void (*unfair)(os_unfair_lock_t);
typedef bool (*unfair_try)(os_unfair_lock_t);
REAL(unfair, real_unfair_lock, "os_unfair_lock_lock")
REAL(unfair_try, real_unfair_try_lock, "os_unfair_lock_trylock")
REAL(unfair, real_unfair_unlock, "os_unfair_lock_unlock")

void os_unfair_lock_lock(os_unfair_lock_t lock) {
    if (rl_active) rl_point(RL_LOCK, lock, rl_place_in_source(RL_CALLER));
    real_unfair_lock()(lock);
}

bool os_unfair_lock_trylock(os_unfair_lock_t lock) {
    if (!rl_active) return real_unfair_try_lock()(lock);
    uint32_t step = rl_point(RL_TRY_LOCK, lock, rl_place_in_source(RL_CALLER));
    return rl_got_it(step) && real_unfair_try_lock()(lock);
}

void os_unfair_lock_unlock(os_unfair_lock_t lock) {
    real_unfair_unlock()(lock);
    if (rl_active) rl_unlocked(lock);
}

static void observe_mutex(volatile uint32_t *word, uint32_t expected, uint32_t desired) {
    (void)word, (void)expected, (void)desired;
}

static bool is_mutex(volatile uint32_t *word, uint32_t expected, uint32_t desired, uint32_t *seen) {
    (void)word, (void)expected, (void)desired, (void)seen;
    return false;
}

#endif

// MARK: - Atomics

// Code compiled with `-sanitize=thread` calls these functions in place of atomic instructions, with
// the memory ordering as the last argument. The lab runs one thread at a time, so all values are
// sequentially consistent. The given ordering only decides which happens-before edges the operation
// creates.

static bool is_point(rl_place place) {
    if (rl_is_observing) rl_observer_uses_atomic();
    return rl_active && !rl_is_compilers_own(place.pc);
}

// A read-modify-write operation. If it writes the value that is already there, it changes nothing:
// a thread may spin on a flag by exchanging it.
#define SWAP(type, a, operation, new_value, order)                                \
    ({                                                                            \
        rl_place place = RL_CALLER;                                               \
        bool point = is_point(place);                                             \
        if (point) rl_point(RL_EXCHANGE, (const void *)(a), place);               \
        type old = operation;                                                     \
        if (point) rl_swapped((type)(new_value) != old, order);                   \
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
        if (is_point(place)) rl_atomic_point(RL_ATOMIC_READ, (const void *)a, place, order);     \
        return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                             \
    }                                                                                            \
    void __tsan_atomic##bits##_store(volatile type *a, type value, int order) {                  \
        rl_place place = RL_CALLER;                                                              \
        if (is_point(place)) rl_atomic_point(RL_ATOMIC_WRITE, (const void *)a, place, order);    \
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
        bool point = is_point(place);                                                            \
        uint32_t step = point ? rl_point(RL_EXCHANGE, (const void *)a, place) : 0;               \
        bool done = __atomic_compare_exchange_n(a, expected, desired, false, __ATOMIC_SEQ_CST,   \
                                                __ATOMIC_SEQ_CST);                               \
        if (point) rl_exchanged(step, done, order, otherwise);                                   \
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
    if (rl_is_observing) observe_mutex(a, expected, desired);                                    \
    if (rl_active && is_mutex(a, expected, desired, &seen)) return seen;

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
    if (rl_active && rl_is_under_test(RL_CALLER.pc)) rl_fence(order);
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
    const rl_place place = rl_place_in_source(RL_CALLER);
    if (is_point(place)) rl_atomic_point(RL_ATOMIC_READ, reference, place, __ATOMIC_ACQUIRE);
    return real_load_lazy()(type, reference);
}

SWIFT_FUNCTION void *rl_store_lazy(void *object, const void *type, SWIFT_SELF void *reference) {
    const rl_place place = rl_place_in_source(RL_CALLER);
    const bool point = is_point(place);
    const uint32_t step = point ? rl_point(RL_EXCHANGE, reference, place) : 0;
    void *stored = real_store_lazy()(object, type, reference);
    if (point) rl_exchanged(step, stored == object, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return stored;
}

// MARK: - Memory

#if defined(__GLIBC__)
extern void __libc_free(void *memory);
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);

void *malloc(size_t size) {
    void *memory = __libc_malloc(size);
    if (rl_active)
        rl_allocated(memory, size);
    else if (rl_is_between_runs_here() && lab.is_setting_up)
        rl_allocated_in_set_up(memory, size);
    return memory;
}

void *realloc(void *memory, size_t size) {
    if (!rl_is_of_lab() || !memory) return __libc_realloc(memory, size);
    // The old block is kept like any other that is freed.
    void *fresh = size > 0 ? malloc(size) : NULL;
    const size_t old_size = malloc_usable_size(memory);
    if (fresh) memcpy(fresh, memory, old_size < size ? old_size : size);
    if (fresh || size == 0) free(memory);
    return fresh;
}

void free(void *memory) {
    if (!memory || rl_keep(memory, RL_CALLER)) return;
    rl_forget_object(memory);
    __libc_free(memory);
}
#endif

#elif defined(RL_UNDER_THREAD_SANITIZER) && defined(__linux__)

// MARK: - Under ThreadSanitizer

// A contended `Mutex` is locked inside libswiftSynchronization, which ThreadSanitizer does not
// instrument. It would report a race between two threads that the lock orders. These functions tell
// it about the acquire and the release.

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT_FUNCTION void (*lock_slow)(uint32_t, SWIFT_SELF void *);
typedef SWIFT_FUNCTION void (*unlock_slow)(SWIFT_SELF void *);

SWIFT_FUNCTION void rl_mutex_lock(uint32_t number, SWIFT_SELF void *handle) __asm__(LOCK_SLOW);
SWIFT_FUNCTION void rl_mutex_unlock(SWIFT_SELF void *handle) __asm__(UNLOCK_SLOW);

SWIFT_FUNCTION void rl_mutex_lock(uint32_t number, SWIFT_SELF void *handle) {
    ((lock_slow)dlsym(RTLD_NEXT, LOCK_SLOW))(number, handle);
    __tsan_acquire(handle);
}

SWIFT_FUNCTION void rl_mutex_unlock(SWIFT_SELF void *handle) {
    __tsan_release(handle);
    ((unlock_slow)dlsym(RTLD_NEXT, UNLOCK_SLOW))(handle);
}

#endif
