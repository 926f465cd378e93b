// How an entry point finds what it stands in front of.

#ifndef REAL_H
#define REAL_H

#include "Platform/build.h"

#include <dlfcn.h>

/// The next definition of a name: the one that would have been called without the lab.
#define REAL(type, name, symbol)                             \
    static type name##_real;                                 \
    static type name(void) {                                 \
        if (!name##_real)                                    \
            name##_real = (type)dlsym(RTLD_NEXT, symbol);    \
        return name##_real;                                  \
    }

#endif
