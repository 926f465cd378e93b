// What this build of the lab contains.

#pragma once

// Every file of the lab includes this first, before any header of the system.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "CRaceLab.h"

// Release builds contain no hooks: the compiler leaves out the calls that they need there. Builds under
// ThreadSanitizer contain its own definitions of the same functions.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RL_UNDER_THREAD_SANITIZER 1
#endif
#endif
#if !defined(DEBUG) || defined(RL_UNDER_THREAD_SANITIZER)
#define RL_WITHOUT_HOOKS 1
#endif

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)
// The lab's own code in a section of its own, so that a walk up a stack can tell it from the code
// under test.
#pragma clang section text = "rl_text"
#endif
