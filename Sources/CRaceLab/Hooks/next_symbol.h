// How an entry point finds the function that it replaces.

#ifndef REAL_H
#define REAL_H

#include "Platform/build.h"

#include <dlfcn.h>

/// The next definition of a symbol: the one that would be called without the lab.
#define REAL(type, name, symbol)                             \
    static type name##_real;                                 \
    static type name(void) {                                 \
        if (!name##_real)                                    \
            name##_real = (type)dlsym(RTLD_NEXT, symbol);    \
        return name##_real;                                  \
    }

#endif
