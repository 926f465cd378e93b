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

/// The next definition of a symbol: the one that would be called without the lab.
#define REAL(type, name, symbol)                                        \
    static type name##_real;                                            \
    static type name(void) {                                            \
        if (!name##_real) name##_real = (type)dlsym(RTLD_NEXT, symbol); \
        return name##_real;                                             \
    }

/// Replaces a function: does `first`, and calls it.
#define REPLACES(type, name, parameters, arguments, first) \
    typedef type(*type_of_##name) parameters;              \
    REAL(type_of_##name, real_##name, #name)               \
    type name parameters {                                 \
        first;                                             \
        return real_##name() arguments;                    \
    }

#endif
