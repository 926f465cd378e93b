// How an entry point is declared in Swift's calling conventions, and how it finds the function that
// it replaces.
//
// The files that replace functions of libraries are for Linux only, where the program's definitions
// take precedence. Elsewhere a library is bound to the library that it was linked against.

#pragma once

#include "Platform/build.h"

#include <dlfcn.h>

#define SWIFT_FUNCTION __attribute__((swiftcall))
#define SWIFT_SELF __attribute__((swift_context))
#define SWIFT_ERROR __attribute__((swift_error_result))
#define ASYNC_FUNCTION __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

/// The next definition of a function's symbol: the one that would be called without the lab.
#define REAL(function) REAL_AT(function, #function)
/// The same for a function whose name in C is not the symbol. It is looked up once. Threads that ask
/// for the first time at the same time may each look it up, and find the same.
#define REAL_AT(function, symbol)                                               \
    ({                                                                          \
        static __typeof__(&function) known;                                     \
        __typeof__(&function) real = __atomic_load_n(&known, __ATOMIC_RELAXED); \
        if (!real) {                                                            \
            real = (__typeof__(&function))dlsym(RTLD_NEXT, symbol);             \
            __atomic_store_n(&known, real, __ATOMIC_RELAXED);                   \
        }                                                                       \
        real;                                                                   \
    })

/// Begins the definition of a function whose name in C is not the symbol.
#define NAMED(symbol, ...)       \
    __VA_ARGS__ __asm__(symbol); \
    __VA_ARGS__

/// Begins the definition of an entry point, whatever its parameters are: at most six numbers and
/// pointers, here the words `a` to `f`. The upper half of a word that is an `int` may be anything.
/// PASS_ON calls the function that it replaces.
#define ENTRY_POINT(name)                                                                        \
    NAMED(#name, intptr_t own_##name(intptr_t a, intptr_t b, intptr_t c, intptr_t d, intptr_t e, \
                                     intptr_t f))
#define PASS_ON(name) REAL_AT(own_##name, #name)(a, b, c, d, e, f)

/// Replaces a function: does `first`, and calls it.
#define REPLACES(name, first) \
    ENTRY_POINT(name) {       \
        first;                \
        return PASS_ON(name); \
    }
