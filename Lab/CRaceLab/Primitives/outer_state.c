// State that threads share outside of the program's memory, such as the environment, and other
// settings of the process; files.c is about files. The calls that use it are no steps: their order
// is not explored. If the order of two of them matters, and no lock decides it, there is no verdict.

#include "Primitives/outer_state.h"

#include "Model/happens_before.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/outside.h"
#include "Search/spinning.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <string.h>

bool rl_uses_outer_state(void) {
    return rl_active && me->thread >= 0 && me->fate == STAYS && !rl_is_ignoring();
}

uint64_t rl_key(uint64_t one, uint64_t other) {
    const uint64_t z = (one ^ (other + 0x9E3779B97F4A7C15ull + (one << 6))) * 0xBF58476D1CE4E5B9ull;
    return z ^ (z >> 31);
}

uint64_t rl_key_of_text(const char *text, size_t size) {
    uint64_t key = size;
    for (size_t i = 0; i < size; i++) key = rl_key(key, (unsigned char)text[i]);
    return key;
}

void rl_use_outer_state(uint64_t key, rl_use use, const char *what, rl_place place) {
    thread *t = my_thread();
    // A loop that does this is not one that only waits.
    if (use == RL_CHANGES) rl_forget_visits(t);
    // No address of the program has this bit.
    const uintptr_t address = (uintptr_t)(key << 3) | (uintptr_t)1 << 63;
    const rl_kind kind = use == RL_CHANGES ? RL_MODIFY : RL_READ;
    const plain_access access = {(uint8_t)kind, address, place.pc, (uint32_t)t->last_step};
    if (!rl_find_unordered(access, 0).exists) return;
    // The testing libraries write down the issues of all threads.
    const char *library = rl_library_between(&place);
    if (library && (strstr(library, "Testing") || strstr(library, "XCTest"))) return;
    rl_meet_outside(what, rl_place_in_source(place));
}

// MARK: - The environment

static const uint64_t whole_environment = 101, signals = 102;

static void use_variable(const char *name, size_t size, rl_use how, rl_place place) {
    if (!rl_uses_outer_state() || !name) return;
    static const char what[] =
        "uses an environment variable that another thread uses, too, and one of them changes it";
    rl_use_outer_state(rl_key(whole_environment, rl_key_of_text(name, size)), how, what, place);
    if (how == RL_CHANGES) rl_use_outer_state(whole_environment, how, what, place);
}

#define USES(name, variable, how)                                                                 \
    REPLACES(name, use_variable((const char *)(variable), strcspn((const char *)(variable), "="), \
                                how, RL_CALLER))

// Only here: the C library itself, and the lab, read the environment before `dlsym` can be called.
char *getenv(const char *name) {
    if (me) use_variable(name, strlen(name), RL_LOOKS, RL_CALLER);
    return REAL(getenv)(name);
}
USES(setenv, a, RL_CHANGES)
USES(unsetenv, a, RL_CHANGES)
USES(putenv, a, RL_CHANGES)
// The functions of the C library that read the time zone.
USES(tzset, "TZ", RL_LOOKS)
USES(localtime, "TZ", RL_LOOKS)
USES(localtime_r, "TZ", RL_LOOKS)
USES(mktime, "TZ", RL_LOOKS)

static void use_environment(rl_place place) {
    static const char what[] = "reads the environment, which another thread changes";
    if (rl_uses_outer_state()) rl_use_outer_state(whole_environment, RL_LOOKS, what, place);
}

// The program that they start inherits it.
REPLACES(popen, use_environment(RL_CALLER))
REPLACES(system, use_environment(RL_CALLER))

/// `ProcessInfo.environment` reads the whole environment, without a call of the C library.
#define ENVIRONMENT "$s20FoundationEssentials11ProcessInfoC11environmentSDyS2SGvg"
NAMED(ENVIRONMENT, SWIFT_FUNCTION void *rl_environment(SWIFT_SELF void *info)) {
    use_environment(RL_CALLER);
    return REAL_AT(rl_environment, ENVIRONMENT)(info);
}

// MARK: - What other threads use without a call

static void change_for_others(const char *what, rl_place place) {
    if (!rl_uses_outer_state() || lab.run.thread_count < 2) return;
    rl_library_between(&place);
    rl_meet_outside(what, rl_place_in_source(place));
}

#define CHANGES(name, condition, what) \
    REPLACES(name, if (condition) change_for_others(what, RL_CALLER))

CHANGES(setlocale, b, "changes the locale, which other threads use")
CHANGES(umask, true, "changes the mask for files that other threads make")
CHANGES(setrlimit, !rl_is_labs_own((uintptr_t)__builtin_return_address(0)),
        "changes a limit of the process, which other threads use")
CHANGES(epoll_wait, rl_is_of_program((uintptr_t)__builtin_return_address(0)),
        "waits with epoll for files, which other threads may use")
CHANGES(alarm, (unsigned)a > 0, "sets a timer that sends a signal")
CHANGES(setitimer, true, "sets a timer that sends a signal")

// MARK: - Handlers of signals

static void use_signals(rl_use how, rl_place place) {
    if (rl_uses_outer_state() && rl_is_of_program(place.pc))
        rl_use_outer_state(signals, how, "uses a signal whose handler another thread changes",
                           place);
}

REPLACES(signal, use_signals(RL_CHANGES, RL_CALLER))
REPLACES(sigaction, use_signals(b ? RL_CHANGES : RL_LOOKS, RL_CALLER))
REPLACES(raise, use_signals(RL_LOOKS, RL_CALLER))

#endif
