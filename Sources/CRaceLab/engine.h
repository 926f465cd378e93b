// What the entry points (listen.c) and the engine (engine.c) say to one another.

#ifndef ENGINE_H
#define ENGINE_H

#include "CRaceLab.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// ThreadSanitizer brings entry points of its own, and two listeners cannot share one door.
#define RL_UNDER_THREAD_SANITIZER 1
#endif
#endif

#ifndef RL_UNDER_THREAD_SANITIZER

/// Not 0 while this thread's accesses are steps. The only thing an entry point looks at when no
/// exploration is under way.
extern _Thread_local int rl_active;

/// Where an entry point was called: the place in the code under test, and the top of its stack.
typedef struct {
    uintptr_t pc;
    uintptr_t stack;
} rl_place;

#define RL_CALLER                                          \
    ((rl_place){(uintptr_t)__builtin_return_address(0),    \
                (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *)})

/// Lets others go first, if the schedule says so, and returns when it is this thread's turn.
/// The caller then does what it announced. Returns the number of the step.
uint32_t rl_point(rl_kind kind, const void *address, rl_place place);

/// Whether an atomic operation belongs to code that the compiler has added.
bool rl_is_compilers_own(uintptr_t pc);

/// What came of an RL_EXCHANGE.
void rl_exchanged(uint32_t step, bool done);

/// For RL_TRY_LOCK: whether the step that was just granted got the lock.
bool rl_got_lock(uint32_t step);

/// This thread releases a lock. No point: whatever another thread does right before it could
/// as well be done right after it.
void rl_unlocked(const void *address);

/// This thread has taken a lock that it will release by setting `word` to 0, without a call.
void rl_will_release_silently(const void *word);

/// The number by which the operating system, and so `Mutex`, knows this thread.
uint32_t rl_thread_number(void);

/// Keeps freed memory from being used again during the run, so that an address stands for one
/// thing only. Returns false if the caller is to free it now.
bool rl_keep(void *memory);

#endif
#endif
