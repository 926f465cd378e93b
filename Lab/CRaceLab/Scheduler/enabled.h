// Which threads are enabled.

#pragma once

#include "State/state.h"

/// Whether a thread can make its next step now.
bool rl_can_go(const thread *t);
/// Whether its step would succeed now; and whether it has got what else it needs.
bool rl_is_available(const thread *t);
bool rl_is_woken(const thread *t);
