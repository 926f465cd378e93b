// State that threads share outside of the program's memory: files, sockets, the environment.

#pragma once

#include "State/state.h"

/// Whether the calling thread's calls for such state count.
bool rl_uses_outer_state(void);

typedef enum { RL_LOOKS, RL_CHANGES } rl_use;

/// The calling thread uses something. If another thread uses it, too, nothing orders that, and one
/// of the two changes it, there is no verdict. `what` says so in a sentence.
void rl_use_outer_state(uint64_t key, rl_use use, const char *what, rl_place place);

uint64_t rl_key(uint64_t one, uint64_t other);
uint64_t rl_key_of_text(const char *text, size_t size);
