// The environment, and other settings of the process that its threads share.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/next_symbol.h"
#include "Primitives/outer_state.h"
#include "Scheduler/outside.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const uint64_t whole_environment = 101, signals = 102;

static void use_variable(const char *name, size_t size, rl_use how, rl_place place) {
    if (!rl_uses_outer_state() || !name) return;
    static const char what[] =
        "uses an environment variable that another thread uses, too, and one of them changes it";
    rl_use_outer_state(rl_key(whole_environment, rl_key_of_text(name, size)), how, what, place);
    if (how == RL_CHANGES) rl_use_outer_state(whole_environment, how, what, place);
}

#define USES(type, name, parameters, arguments, variable, how) \
    REPLACES(type, name, parameters, arguments,                \
             use_variable(variable, strcspn(variable, "="), how, RL_CALLER))

// Only here: the C library itself, and the lab, read the environment before `dlsym` can be called.
char *getenv(const char *name) {
    if (me) use_variable(name, strlen(name), RL_LOOKS, RL_CALLER);
    return REAL(getenv)(name);
}
USES(int, setenv, (const char *name, const char *value, int replaces), (name, value, replaces),
     name, RL_CHANGES)
USES(int, unsetenv, (const char *name), (name), name, RL_CHANGES)
USES(int, putenv, (char *text), (text), text, RL_CHANGES)
// The functions of the C library that read the time zone.
USES(void, tzset, (void), (), "TZ", RL_LOOKS)
USES(struct tm *, localtime, (const time_t *time), (time), "TZ", RL_LOOKS)
USES(struct tm *, localtime_r, (const time_t *time, struct tm *to), (time, to), "TZ", RL_LOOKS)
USES(time_t, mktime, (struct tm * time), (time), "TZ", RL_LOOKS)

static void use_environment(rl_place place) {
    static const char what[] = "reads the environment, which another thread changes";
    if (rl_uses_outer_state()) rl_use_outer_state(whole_environment, RL_LOOKS, what, place);
}

// The program that they start inherits it.
REPLACES(FILE *, popen, (const char *command, const char *mode), (command, mode),
         use_environment(RL_CALLER))
REPLACES(int, system, (const char *command), (command), use_environment(RL_CALLER))

/// `ProcessInfo.environment` reads the whole environment, without a call of the C library.
#define ENVIRONMENT "$s20FoundationEssentials11ProcessInfoC11environmentSDyS2SGvg"
SWIFT_FUNCTION void *rl_environment(SWIFT_SELF void *info) __asm__(ENVIRONMENT);
SWIFT_FUNCTION void *rl_environment(SWIFT_SELF void *info) {
    use_environment(RL_CALLER);
    return REAL_AT(rl_environment, ENVIRONMENT)(info);
}

// MARK: - What other threads use without a call

static void change_for_others(const char *what, rl_place place) {
    if (!rl_uses_outer_state() || lab.thread_count < 2) return;
    rl_library_between(&place);
    rl_meet_outside(what, rl_place_in_source(place));
}

#define CHANGES(type, name, parameters, arguments, condition, what) \
    REPLACES(type, name, parameters, arguments, if (condition) change_for_others(what, RL_CALLER))

CHANGES(char *, setlocale, (int category, const char *name), (category, name), name,
        "changes the locale, which other threads use")
CHANGES(mode_t, umask, (mode_t mode), (mode), true,
        "changes the mask for files that other threads make")
CHANGES(int, setrlimit, (__rlimit_resource_t which, const struct rlimit *limit), (which, limit),
        !rl_is_labs_own((uintptr_t)__builtin_return_address(0)),
        "changes a limit of the process, which other threads use")
CHANGES(int, epoll_wait, (int set, struct epoll_event *events, int count, int time),
        (set, events, count, time), rl_is_of_program((uintptr_t)__builtin_return_address(0)),
        "waits with epoll for files, which other threads may use")
CHANGES(unsigned, alarm, (unsigned seconds), (seconds), seconds > 0,
        "sets a timer that sends a signal")
CHANGES(int, setitimer,
        (__itimer_which_t which, const struct itimerval *time, struct itimerval *before),
        (which, time, before), true, "sets a timer that sends a signal")

// MARK: - Handlers of signals

static void use_signals(rl_use how, rl_place place) {
    if (rl_uses_outer_state() && rl_is_of_program(place.pc))
        rl_use_outer_state(signals, how, "uses a signal whose handler another thread changes",
                           place);
}

REPLACES(__sighandler_t, signal, (int number, __sighandler_t handler), (number, handler),
         use_signals(RL_CHANGES, RL_CALLER))
REPLACES(int, sigaction, (int number, const struct sigaction *action, struct sigaction *before),
         (number, action, before), use_signals(action ? RL_CHANGES : RL_LOOKS, RL_CALLER))
REPLACES(int, raise, (int number), (number), use_signals(RL_LOOKS, RL_CALLER))

#endif
