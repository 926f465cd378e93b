// What this build of the lab contains.

#pragma once

// Every file of the lab includes this file first, before any system header.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#if defined(__linux__)
#include <features.h>
#if !defined(__GLIBC__)
#error "RaceLab needs Linux with glibc: with another C library it would miss calls, and be wrong"
#endif
#elif !defined(__APPLE__)
#error "RaceLab works on Linux with glibc; on macOS it compiles"
#endif

#include "CRaceLab.h"

// Release builds contain no hooks: there the compiler omits the calls that the hooks intercept. In
// builds with ThreadSanitizer, its runtime defines the same functions. So only the primitives, whose
// entry points replace functions, are left out there.
#if __has_feature(thread_sanitizer)
#define RL_UNDER_THREAD_SANITIZER 1
#endif
#if !defined(DEBUG) || defined(RL_UNDER_THREAD_SANITIZER)
#define RL_WITHOUT_HOOKS 1
#endif

#if defined(__linux__)
// The lab's code gets a section of its own, so that a stack walk can distinguish it from the code
// under test.
#pragma clang section text = "rl_text"
#endif
