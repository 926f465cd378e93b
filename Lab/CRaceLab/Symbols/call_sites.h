// Classifies calls: made by the code under test, by the libraries that it uses, or by the compiler.

#pragma once

#include "State/state.h"
#include "Symbols/libraries.h"

/// Whether the code at an address belongs to the program rather than the toolchain's libraries.
bool rl_is_under_test(uintptr_t pc);

/// Whether the code under test called an entry point, directly or through a function of Foundation
/// or Dispatch that only acts for it. If so, moves `*place` up the stack to the code under test.
bool rl_is_call_of_program(rl_place *place);
/// The same whatever the functions between act for.
bool rl_is_below_program(rl_place *place);

/// The place to show for an access: a place in a source file. Accessors and thunks have no lines;
/// for them it is the place that calls them. `place` is RL_CALLER.
rl_place rl_place_in_source(rl_place place);

/// The toolchain library that makes a call for the code under test: the first one on the stack
/// other than Dispatch; NULL if there is none. Moves `*place` up the stack to the code under test.
const char *rl_library_between(rl_place *place);

/// The place that creates an object, found from the place that allocates it.
rl_place rl_place_of_making(rl_place place);

/// Whether the code at an address is C code of the lab.
bool rl_is_labs_own(uintptr_t pc);
/// Whether a function is in the Swift half of the lab, or in an unknown file.
bool rl_is_in_lab(uintptr_t pc);

/// Whether the compiler added the code at an address.
bool rl_is_compilers_own(uintptr_t pc);

/// Whether the memory at an address is a cache of the compiler, which the code at `pc` accesses.
bool rl_is_compilers_cache(uintptr_t pc, uintptr_t address);

/// The place of an atomic operation that makes no call, in the function that contains `pc`; 0 if
/// there is none.
uintptr_t rl_unseen_atomic(uintptr_t pc);

/// Whether a call of `__tsan_func_entry` is known, and its function contains no such operation.
bool rl_is_known_entry(uintptr_t pc);

/// What runs have shown about a place in the code.
typedef enum {
    RL_OF_OWN_LOCK = 1,  // the exchange takes a lock of the program itself, and no `Mutex`
    RL_BY_POINTER = 2,   // a variable is passed by pointer
} rl_mark;
void rl_mark_place(uintptr_t pc, rl_mark mark);
bool rl_is_marked(uintptr_t pc, rl_mark mark);
/// A function that is compiled with `-sanitize=thread` has called `__tsan_func_entry`.
void rl_note_sanitized(uintptr_t pc);
/// Whether a function is compiled without `-sanitize=thread` and contains an atomic operation, such
/// as that of a `Mutex`.
bool rl_is_unseen_lock(rl_place place);
/// The innermost such function, from `place` up to the body of the thread; its place is 0 if there
/// is none.
rl_place rl_place_of_unseen_lock(rl_place place);
/// Whether a function that has been called is compiled with `-sanitize=thread`.
bool rl_is_sanitized(uintptr_t pc);
/// Finds the answer to a question about a place, and remembers it.
typedef enum { RL_IS_ALLOCATING, RL_IS_IN_LAB, RL_IS_HELPER, RL_QUESTION_COUNT } rl_question;
bool rl_answer(rl_question question, uintptr_t pc, bool (*find)(uintptr_t pc));

/// The place in the code under test that calls the runtime; `pc` is 0 if it has left the stack.
rl_place rl_place_of_await(rl_place place);
/// The place in the code under test that awaits the running library function; `pc` is 0 if unknown.
rl_place rl_place_that_awaits(rl_place place);
/// The place from which the function at a place was called; `pc` is 0 if the lab called it.
rl_place rl_caller_of(rl_place place);
/// The first function under test in a chain of asynchronous contexts, each of which points to its
/// caller's; 0: none.
uintptr_t rl_place_in_contexts(const uintptr_t *context);
/// The context of the library function that a function under test awaits; NULL: none.
const uintptr_t *rl_awaited_context(const uintptr_t *context);

/// Whether two return addresses belong to the same function.
bool rl_are_in_one_function(uintptr_t pc, uintptr_t other);
/// Whether the code between two return addresses calls a function into which the compiler has moved
/// the copy of a value, such as one of a generic type.
bool rl_copies_between(uintptr_t begin, uintptr_t end);
