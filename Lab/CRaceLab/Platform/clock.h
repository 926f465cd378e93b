// A monotonic clock.

#pragma once

#include "Platform/build.h"

int64_t rl_milliseconds(void);
