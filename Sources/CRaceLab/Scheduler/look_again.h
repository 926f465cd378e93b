// When no thread is enabled: those that spin go round once more.

#pragma once

#include "State/state.h"

void rl_look_again(rl_thread_set *enabled);
