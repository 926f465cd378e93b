// Explores depth first, without the search that is written in Swift: at each step that was not
// prescribed, every other choice is tried, up to a number of preemptions. For tests of the engine
// alone.

#pragma once

#include "CRaceLab.h"

/// Adds this driver to a scenario. `max_preemptions`: -1 stands for any number.
void drive(rl_scenario *scenario, int max_preemptions);
