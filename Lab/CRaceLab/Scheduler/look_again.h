// When no thread is enabled, spinning threads run their loops once more.

#pragma once

#include "State/state.h"

void rl_look_again(rl_thread_set *enabled);
