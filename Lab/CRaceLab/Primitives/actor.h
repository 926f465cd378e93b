// Actors, and the executors on which tasks run.

#pragma once

#include "Primitives/next_symbol.h"
#include "Primitives/task.h"

typedef struct {
    uintptr_t identity, implementation;
} executor;

executor rl_current_executor(void);
/// The task that runs on this thread; 0: none.
uintptr_t rl_current_task(void);
uintptr_t rl_main_actor(void);
/// Whether an executor is an actor whose waiting tasks the runtime keeps. An executor of the
/// program's own keeps them itself: its `enqueue` is code of the program, and has steps of its own.
bool rl_is_actor(executor e);
/// A task is about to arrive at an actor, or to be created on one.
void rl_meets_actor(uintptr_t identity);
/// The place where the code under test last switched to an actor.
uintptr_t rl_last_arrival(void);
