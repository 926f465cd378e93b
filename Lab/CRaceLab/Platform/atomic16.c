// Atomic operations on 16 bytes, for x86-64. The compiler emits calls of these functions there,
// which belong to a library that need not be installed.

#include "Platform/build.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__x86_64__)

typedef __uint128_t wide;

#define FUNCTION __attribute__((target("cx16"), visibility("hidden")))

FUNCTION wide __atomic_load_16(const volatile void *address, int order) {
    (void)order;
    return __sync_val_compare_and_swap((volatile wide *)address, 0, 0);
}

FUNCTION bool __atomic_compare_exchange_16(volatile void *address, void *expected, wide desired,
                                           int order, int otherwise) {
    (void)order, (void)otherwise;
    const wide before = *(wide *)expected;
    const wide found = __sync_val_compare_and_swap((volatile wide *)address, before, desired);
    *(wide *)expected = found;
    return found == before;
}

/// Defines a function that replaces the value by `new_value` and returns the old one.
#define REPLACE(type, name, new_value, result)                                           \
    FUNCTION type __atomic_##name##_16(volatile void *address, wide value, int order) {  \
        wide old = __atomic_load_16(address, order);                                     \
        while (!__atomic_compare_exchange_16(address, &old, new_value, order, order)) {} \
        return result;                                                                   \
    }

REPLACE(void, store, value, (void)0)
REPLACE(wide, exchange, value, old)
REPLACE(wide, fetch_add, old + value, old)
REPLACE(wide, fetch_sub, old - value, old)
REPLACE(wide, fetch_and, old &value, old)
REPLACE(wide, fetch_or, old | value, old)
REPLACE(wide, fetch_xor, old ^ value, old)
REPLACE(wide, fetch_nand, ~(old &value), old)

#endif
