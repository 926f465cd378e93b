// The libraries of the process, as the dynamic linker knows them: those of the toolchain and the
// system, and those of the program.

#pragma once

#include "Platform/build.h"

typedef enum {
    UNKNOWN = 0,
    OF_PROGRAM,    // the code under test, or a library that is not part of the toolchain
    FOR_PROGRAM,   // a toolchain function that only acts for its caller
    NAMELESS,      // a function of Foundation without a symbol
    OF_TOOLCHAIN,  // other code of the toolchain's libraries
} origin;

origin rl_find_origin(uintptr_t pc);

/// A library, or the program, whose path is empty. `bias` is what is added to the addresses in its
/// file.
typedef struct {
    const char *path;
    uintptr_t bias, start, end;
} library;

/// The library that contains an address; 0 everywhere if there is none. On Linux.
library rl_library_with(uintptr_t address);

/// Whether an address is in the static data of the program or a library.
bool rl_is_global(uintptr_t address);
/// Whether an address is in the Swift runtime. Its static data is metadata, which generic code reads
/// at each call, and which never changes.
bool rl_is_data_of_runtime(uintptr_t address);
/// The file name of the library that contains the code at an address; empty if it is unknown.
const char *rl_name_of_library(uintptr_t pc);
/// Whether this is the library with a name, given without an extension.
bool rl_is_in_library(uintptr_t pc, const char *name);
