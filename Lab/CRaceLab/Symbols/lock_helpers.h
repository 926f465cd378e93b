// Functions that take a lock for their caller, such as `withLock`.

#pragma once

#include "State/state.h"

/// Returns the place of the step that takes a lock: if that is in a helper, the line that calls the
/// helper. The line in the helper would be the same for every caller.
rl_place rl_call_of_helper(rl_place place);
