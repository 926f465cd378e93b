// The end of bodies that are abandoned.

#pragma once

#include "Platform/build.h"

/// The last action of a worker whose body was abandoned.
void rl_meet_fate(void);
/// Abandons the bodies that wait at a point and will not get another turn.
void rl_dismiss_the_rest(void);
