// Where code stands in the source.

#pragma once

#include "Platform/build.h"

/// Where code comes from.
typedef enum {
    SOURCE_UNKNOWN = 0,
    OF_STATEMENT,       // it stands in a source file
    ADDED_BY_COMPILER,  // it has no line, but its function has statements
    OF_COMPILER,        // its function has none: an accessor, a thunk
} rl_source;

rl_source rl_find_source(uintptr_t pc);
/// Whether a call has no line, although its function has statements.
bool rl_has_no_line(uintptr_t pc);

/// A modification in place may be two calls of accessors, one that begins it and one that ends it. The
/// statement stands between them.
typedef enum { NEITHER, BEGINS, ENDS } rl_access_end;

/// Which end of an access is a call of the function in which the code stands.
rl_access_end rl_access_end_at(uintptr_t pc);
/// Whether the function in which the code stands allocates an object and calls its initializer.
bool rl_is_allocating(uintptr_t pc);
/// Where the statement is to which such a call belongs that has no line itself.
uintptr_t rl_nearest_statement(uintptr_t pc, rl_access_end end);
