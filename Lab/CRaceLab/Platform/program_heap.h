// Memory for the code under test. What gets which address depends only on what is in use: it is the
// lowest address that is free. So a run which repeats another one meets the same addresses, and code
// whose order depends on addresses, as that of a set does, behaves the same. A run that was given up
// leaves its objects behind, and those of later runs lie elsewhere.

#pragma once

#include "Platform/build.h"

/// NULL: there is no such memory for so large an object, or none is left.
void *rl_allocate_for_program(size_t size);
/// How much of the memory at such an address can be used; 0 if it comes from elsewhere. Ends the
/// process if it is not in use.
size_t rl_size_for_program(const void *memory);
/// Frees such memory, or any other of the code under test, without a call of the `free` in heap.c.
void rl_free_of_program(void *memory);
/// The same for a thread that is none of the lab or was given up, and may free something at any
/// moment. Such memory is not used again before `rl_reuse_what_others_freed`.
void rl_free_of_others(void *memory);
void rl_reuse_what_others_freed(void);
/// Whether a word can be read, of this memory or any other. On Linux; elsewhere it is not known.
bool rl_is_readable(const uintptr_t *word);
