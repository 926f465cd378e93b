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

// MARK: - Files, names, descriptors and folders

/// The thread uses a name as `name`, and the file that has it as `contents`. `folder` is a
/// descriptor or AT_FDCWD.
void rl_use_path(int folder, const char *path, rl_use name, rl_use contents, rl_place place);
/// The thread opens a path. Returns whether it makes the file.
bool rl_open_path(int folder, const char *path, int flags, rl_place place);
/// A call has made a folder or a pipe at a path, if `result` is 0. Returns `result`.
int rl_made_path(int result, int folder, const char *path);
/// The thread uses a descriptor. `moves`: it also moves the position from which others go on.
void rl_use_descriptor(int file, rl_use contents, bool moves, rl_place place);
/// The thread may look at the number of a file's names.
void rl_count_links(int file, rl_place place);
void rl_use_directory(rl_use how, rl_place place);

/// The thread reads the names in a folder: one with a path, or with a descriptor, or the one that a
/// pattern begins with.
void rl_list(const char *path, rl_place place);
void rl_list_open(int folder, rl_place place);
void rl_list_matches(const char *pattern, rl_place place);

/// A descriptor has been made. Returns it.
int rl_made_descriptor(int file);
/// The same for the descriptor of a file that has just been made.
int rl_made_file(int file);
