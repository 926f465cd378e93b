// The environment, and other settings of the process that its threads share.

#include "Primitives/next_symbol.h"
#include "Primitives/outer_state.h"
#include "Scheduler/outside.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdlib.h>
#include <string.h>

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
