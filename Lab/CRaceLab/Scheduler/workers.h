// The workers: operating-system threads that run bodies of scenario threads one after another.

#pragma once

#include "Platform/build.h"

/// What a worker does.
void *rl_work(void *worker);
