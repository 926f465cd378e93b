// The priorities of tasks.

#pragma once

#include "State/state.h"

/// A task has been created.
void rl_note_priority(thread *task);
/// The calling thread leaves an actor, which can then take another task.
void rl_leaves_actor(uintptr_t actor);
