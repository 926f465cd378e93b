// How an entry point is declared in Swift's calling conventions, and how it finds the function that
// it replaces.

#ifndef REAL_H
#define REAL_H

#include "Platform/build.h"

#include <dlfcn.h>

#define SWIFT_FUNCTION __attribute__((swiftcall))
#define SWIFT_SELF __attribute__((swift_context))
#define SWIFT_ERROR __attribute__((swift_error_result))
#define ASYNC_FUNCTION __attribute__((swiftasynccall))
#define ASYNC_CONTEXT __attribute__((swift_async_context))

/// The next definition of a function's symbol: the one that would be called without the lab.
#define REAL(function) REAL_AT(function, #function)
/// The same for a function whose name in C is not the symbol.
#define REAL_AT(function, symbol)                                          \
    ({                                                                     \
        static __typeof__(&function) real;                                 \
        if (!real) real = (__typeof__(&function))dlsym(RTLD_NEXT, symbol); \
        real;                                                              \
    })

/// Replaces a function: does `first`, and calls it.
#define REPLACES(type, name, parameters, arguments, first) \
    type name parameters {                                 \
        first;                                             \
        return REAL_AT(name, #name) arguments;             \
    }

#endif
