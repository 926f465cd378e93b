// What goes on outside of the scenario.

#pragma once

#include "State/state.h"

/// The code under test does something that goes on outside of the scenario, where the lab cannot see
/// it: there will be no verdict. Where accesses are steps, this ends the run and does not return.
void rl_meet_outside(const char *what, rl_place place);

/// On a thread of the lab: this was made in this run, so that no code outside of the scenario has it.
void rl_made(const void *object);

/// Where all wait, but one of them for something that may come from outside, there is no deadlock.
rl_status rl_deadlock_or_outside(void);
