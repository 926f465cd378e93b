// A clock that is never set.

#pragma once

#include "Platform/build.h"

int64_t rl_milliseconds(void);
