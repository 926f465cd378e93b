// Maps addresses to source locations, using the line tables and symbols of the program and the
// libraries in this process. They are read from their ELF files when an address in them is looked up
// for the first time. A lookup takes microseconds, so it can be made during an exploration.

#pragma once

#include "Platform/build.h"

/// The origin of a piece of code.
typedef enum {
    SOURCE_UNKNOWN = 0,
    OF_STATEMENT,       // a statement in a source file
    ADDED_BY_COMPILER,  // no line, but its function has statements
    OF_COMPILER,        // its function has no statements: an accessor, a thunk
} rl_source;

rl_source rl_find_source(uintptr_t pc);
/// Whether the function that contains `pc` allocates an object and calls its initializer.
bool rl_is_allocating(uintptr_t pc);
/// The address of the statement that a call belongs to, which may have no line. `callee` is in the
/// function that is called.
uintptr_t rl_statement_of_call(uintptr_t pc, uintptr_t callee);

/// Whether the memory at an address in static data is a cache of the compiler. The code that
/// accesses it is in the same image.
bool rl_is_cache(uintptr_t pc, uintptr_t address);
/// Reads the symbols of the program that contains an address, which takes long. On Linux.
void rl_read_symbols(uintptr_t address);
