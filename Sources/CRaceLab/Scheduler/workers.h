// The threads of the operating system.

#pragma once

#include "State/state.h"

/// Right after an RL_START: runs `start` as one more thread of this run, up to its first point.
/// Returns what pthread_create does.
int rl_start_thread(pthread_t *pthread, const pthread_attr_t *attributes,
                    void *(*start)(void *), void *argument);

/// The same for a thread that the lab needs, and that no other one joins.
void rl_start_detached_thread(void *(*start)(void *), void *argument);

/// Runs `start` as `count` more threads of this run, with the numbers from 0 on. The next RL_JOIN on
/// `team` waits for the end of them all.
void rl_start_team(const void *team, size_t count, void (*start)(const void *team, size_t number));

/// The thread of this run that is known as `pthread`, or -1. The next RL_JOIN waits for its end.
int rl_will_join(pthread_t pthread);
void rl_detached(pthread_t pthread);

// MARK: - For the scheduler

/// An idle worker, if possible this one.
worker *rl_idle_worker(worker *wanted);
void rl_hand_over(worker *w);
void rl_assign(int what);
/// The thread makes the next step, wherever it stands.
void rl_pass_turn(int index);
/// Gives up the bodies that stand at a point and will not get another turn.
void rl_dismiss_the_rest(void);
void rl_forget_workers(void);
