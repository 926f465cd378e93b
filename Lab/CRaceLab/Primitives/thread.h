// Threads that the code under test starts.

#pragma once

#include "Scheduler/operation.h"

/// Waits for the end of one thread, or of a team.
extern const rl_operation rl_join;
/// The step in which the current thread starts another one. It races with nothing.
void rl_announce_start(rl_place place);

/// Called right after an RL_START: runs `start` as a new thread of this run, up to its first point.
/// Returns the result of pthread_create.
int rl_start_thread(pthread_t *pthread, const pthread_attr_t *attributes, void *(*start)(void *),
                    void *argument);

/// The same for a thread that the lab needs and that no thread joins.
void rl_start_detached_thread(void *(*start)(void *), void *argument);

/// Runs `start` as `count` new threads of this run, numbered from 0. The next RL_JOIN on `team`
/// waits for all of them.
void rl_start_team(const void *team, size_t count, void (*start)(const void *team, size_t number));

/// The thread of this run with this `pthread`, or NO_THREAD. The next RL_JOIN waits for its end.
int rl_will_join(pthread_t pthread);
void rl_detached(pthread_t pthread);
