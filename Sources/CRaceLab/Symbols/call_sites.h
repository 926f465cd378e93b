// Whose call it is.

#pragma once

#include "State/state.h"

/// Whether the code at an address belongs to the program, and not to the toolchain's libraries.
bool rl_is_under_test(uintptr_t pc);

/// Whether a call of an entry point was made by the code under test, be it through one of those
/// functions of Foundation or Dispatch that do nothing else for it. If so, `*place` is moved up
/// the stack to the code under test.
bool rl_is_call_of_program(rl_place *place);

/// At the head of an entry point: whether this call is a matter for the lab; if so, `place`
/// is where the program made it.
#define IS_LISTENED_TO(place)     \
    rl_place place = RL_CALLER;   \
    bool is_listened_to = rl_active && rl_is_call_of_program(&place)

/// The place to show for an access: where the code under test stands in a source file. Accessors and
/// thunks have no lines; then it is the place from which they are called. `place` is RL_CALLER.
rl_place rl_place_in_source(rl_place place);

/// The library of the toolchain that makes a call for the code under test: the first one on the stack
/// that is not Dispatch; NULL if there is none. `*place` is moved up the stack to the code under test.
const char *rl_library_between(rl_place *place);

/// Whether something at an address is as old as the program, or the library, that has it.
bool rl_is_global(uintptr_t address);

/// Whether the code at an address belongs to the library of this name, which has no ending.
bool rl_is_in_library(uintptr_t pc, const char *name);

/// The place where an object is made, from that where it is allocated.
rl_place rl_place_of_making(rl_place place);

/// Whether the code at an address is this C code of the lab.
bool rl_is_labs_own(uintptr_t pc);

/// Whether an atomic operation belongs to code that the compiler has added.
bool rl_is_compilers_own(uintptr_t pc);

/// The place in the code under test from which the runtime is called; 0 if that has left the stack.
rl_place rl_place_of_await(rl_place place);
/// The place in the code under test that awaits the function of a library which runs now; 0: not known.
rl_place rl_place_that_awaits(rl_place place);
/// Whether an exported function of this name is on the stack.
bool rl_is_within(const char *name, rl_place place);
/// The first function under test in a list of the contexts of functions that wait for one another; 0: none.
uintptr_t rl_place_in_contexts(const uintptr_t *context);
