// The calls that end or replace the process. If the code under test makes one of them, the process
// ends with a status that is not that of a success. In a child process, the call is a finding.

#include "Primitives/next_symbol.h"
#include "Scheduler/early_end.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// The place to report: in the code under test, if a library makes the call.
static rl_place place_of_call(rl_place place) {
    rl_library_between(&place);
    return rl_place_in_source(place);
}

static void ends(const char *call, int status, rl_place place) {
    if (rl_would_end_exploration()) rl_end_early(call, status, place_of_call(place));
    // In a child process, the handlers of `exit` run. They are no steps: which ones there are
    // depends on what else the process has done.
    rl_ignore();
}

#define ENDS(name) REPLACES(name, ends(#name, (int)a, RL_CALLER))

ENDS(exit)
ENDS(_exit)
ENDS(_Exit)
ENDS(quick_exit)

// MARK: - Other programs

static bool can_be_run(const char *path) {
    struct stat file;
    return access(path, X_OK) == 0 && stat(path, &file) == 0 && S_ISREG(file.st_mode);
}

/// Whether a call would find this program. Otherwise it returns an error.
static bool is_found(const char *name) {
    if (strchr(name, '/')) return can_be_run(name);
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        const size_t size = strcspn(folders, ":");
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s/%s", (int)size, folders, name);
        if (can_be_run(path)) return true;
        folders += size + (folders[size] == ':');
    }
    return false;
}

#define BECOMES(name, found, place) \
    if (rl_would_end_exploration() && (found)) rl_end_early(name, 0, place_of_call(place))
REPLACES(execv, BECOMES("execv", can_be_run((const char *)a), RL_CALLER))
REPLACES(execve, BECOMES("execve", can_be_run((const char *)a), RL_CALLER))
REPLACES(execvp, BECOMES("execvp", is_found((const char *)a), RL_CALLER))
REPLACES(execvpe, BECOMES("execvpe", is_found((const char *)a), RL_CALLER))
REPLACES(fexecve, BECOMES("fexecve", true, RL_CALLER))

// The arguments of these end with NULL; in `execle` the environment follows.

enum { MAX_ARGUMENTS = 4096 };

#define COLLECT(first)                                                 \
    char *arguments[MAX_ARGUMENTS] = {(char *)first};                  \
    va_list rest;                                                      \
    va_start(rest, first);                                             \
    for (size_t i = 1; i < MAX_ARGUMENTS - 1 && arguments[i - 1]; i++) \
    arguments[i] = va_arg(rest, char *)

int execl(const char *path, const char *first, ...) {
    BECOMES("execl", can_be_run(path), RL_CALLER);
    COLLECT(first);
    va_end(rest);
    return REAL(execv)(path, arguments);
}

int execlp(const char *name, const char *first, ...) {
    BECOMES("execlp", is_found(name), RL_CALLER);
    COLLECT(first);
    va_end(rest);
    return REAL(execvp)(name, arguments);
}

int execle(const char *path, const char *first, ...) {
    BECOMES("execle", can_be_run(path), RL_CALLER);
    COLLECT(first);
    char *const *environment = va_arg(rest, char *const *);
    va_end(rest);
    return REAL(execve)(path, arguments, environment);
}

#endif
