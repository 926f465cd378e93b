// Maps addresses to source locations.

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
/// Whether a call has no line although the line tables cover its code.
bool rl_has_no_line(uintptr_t pc);

/// A modification in place may be two accessor calls, one that begins it and one that ends it. The
/// statement lies between them.
typedef enum { NEITHER, BEGINS, ENDS } rl_access_end;

/// Which end of an access a call of the function that contains `pc` is.
rl_access_end rl_access_end_at(uintptr_t pc);
/// Whether the function that contains `pc` allocates an object and calls its initializer.
bool rl_is_allocating(uintptr_t pc);
/// The address of the statement that a call without a line belongs to.
uintptr_t rl_nearest_statement(uintptr_t pc, rl_access_end end);

/// Whether the memory at an address in static data is a cache of the compiler. The code that
/// accesses it is in the same image.
bool rl_is_cache(uintptr_t pc, uintptr_t address);
