// Threads that the code under test starts, and their entry points. `Thread` ends up here as well.

#pragma once

#include "Scheduler/operation.h"

/// Waits for the end of one thread, or of a team.
extern const rl_operation rl_join;
/// The step in which the current thread starts another one. It races with nothing.
void rl_announce_start(rl_place place);

/// Called right after an RL_START: runs `start` as a new thread of this run, which the lab needs and
/// no thread joins, up to its first point.
void rl_start_detached_thread(void *(*start)(void *), void *argument);

/// Runs `start` as `count` new threads of this run, numbered from 0. The next RL_JOIN on `team`
/// waits for all of them.
void rl_start_team(const void *team, size_t count, void (*start)(const void *team, size_t number));
