// Begins a run, judges it, and picks the next one.

#pragma once

#include "Scheduler/operation.h"

/// Judges the completed run, if any, and begins the next one. Returns the thread to start with, or
/// NO_THREAD if there is no further run.
int rl_next_run(void);
/// Describes the current state of the run.
void rl_fill_in(rl_run *run);

/// The set-up or the judging of a run started a thread; it must be joined before that ends.
void rl_meet_thread_of_set_up(pthread_t pthread, rl_place place);
void rl_forget_thread_of_set_up(pthread_t pthread);
/// The code that judges a complete run is about to wait for a lock that no thread will release. If no
/// other thread is left, the run ends as a deadlock, and this does not return.
void rl_judge_waits_forever(const rl_operation *operation, const void *address, rl_place place);
/// During the set-up: adds a thread to those with which the run begins.
void rl_add_thread_of_set_up(void (*body)(void *argument), void *argument);
