// From the beginning of a run to its end, and on to the next.

#pragma once

#include "State/state.h"

void rl_make_thread(int index);
/// Judges the run that is over, if any, and begins the next. Returns the thread to begin with,
/// or NO_THREAD when there is nothing more to do.
int rl_next_run(void);
/// The thread to start next, while there are any that have not been started.
int rl_next_to_start(void);
/// Describes the run as it stands.
void rl_fill_in(rl_run *run);

/// A thread was started while a scenario is set up, or a run judged, and has not been joined.
void rl_meet_thread_of_set_up(pthread_t pthread, rl_place place);
void rl_forget_thread_of_set_up(pthread_t pthread);
/// While a scenario is set up: adds a thread to those with which the run begins.
void rl_add_thread_of_set_up(void (*body)(void *argument), void *argument);

/// No exploration begins between these two.
void rl_hold_explorations(void);
void rl_release_explorations(void);
/// In a child process, which has none of its parent's threads but one: makes the engine new.
/// Steps are written to the recorder, in which there is room for so many.
void rl_begin_in_child(uint32_t room);
