// Recognizes functions that take a lock for their caller by their signatures. Either the name is
// that of an operation on a lock, or the name or its type contains a word for locks and the
// function takes another function, which it calls before it returns.

#include "Symbols/lock_helpers.h"

#include "Symbols/call_sites.h"

#if defined(__linux__)

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unwind.h>

/// Of Swift's runtime, and of that of C++: only code in these languages needs it.
extern __attribute__((weak)) char *swift_demangle(const char *name, size_t length, char *buffer,
                                                  size_t *size, uint32_t flags);
extern __attribute__((weak)) char *__cxa_demangle(const char *name, char *buffer, size_t *size,
                                                  int *status);

// MARK: - The signature

static bool ends_with(const char *name, size_t length, const char *end) {
    const size_t size = strlen(end);
    return length >= size && memcmp(name + length - size, end, size) == 0;
}

/// `lock`, `tryLock`, `lockRead`, `os_unfair_lock_lock`, but not `block`.
static bool is_name_of_locking(const char *name, size_t length) {
    static const char *const others[] = {
        "try",        "acquire",        "tryAcquire",     "lockRead",   "lockWrite",
        "lockShared", "lockForReading", "lockForWriting", "lock_guard", NULL};
    for (const char *const *other = others; *other; other++)
        if (strlen(*other) == length && memcmp(name, *other, length) == 0) return true;
    const bool is_all = length == strlen("lock");
    return ends_with(name, length, "Lock") || ends_with(name, length, "_lock") ||
           ends_with(name, length, "_trylock") || (is_all && ends_with(name, length, "lock"));
}

/// Whether a name of a type and a function speaks of locks, as in `NIOLock.withLock` and
/// `Atomic.modify`: each of these words begins a word there.
static bool speaks_of_locks(const char *name, const char *end) {
    static const char *const words[] = {"lock",    "mutex",    "sync",      "atomic",
                                        "protect", "critical", "exclusive", NULL};
    for (const char *at = name; at < end; at++) {
        const bool begins = at == name || !isalpha((unsigned char)at[-1]);
        if (!isupper((unsigned char)*at) && !begins) continue;
        for (const char *const *word = words; *word; word++)
            if (strncasecmp(at, *word, strlen(*word)) == 0) return true;
    }
    return false;
}

/// Returns the end of what a bracket opens.
static const char *closing(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; at++) {
        const bool is_arrow = *at == '>' && at > open && at[-1] == '-';
        if (strchr("(<[", *at)) depth++;
        if (strchr(")>]", *at) && !is_arrow && --depth == 0) return at;
    }
    return open + strlen(open);
}

/// Whether one of the parameters is a function.
static bool has_function(const char *open) {
    const char *const end = closing(open);
    for (const char *at = open + 1; at < end; at++) {
        if (strncmp(at, "->", 2) == 0) return true;
        if (strchr("(<[", *at)) at = closing(at);
    }
    return false;
}

bool rl_takes_lock_for_caller(const char *signature, bool calls_parameter) {
    const char *const module = strchr(signature, '.');
    const char *name = signature;
    size_t length = 0;
    static const char unnamed[] = "(anonymous namespace)";
    for (const char *at = signature; *at; at++) {
        if (strncmp(at, unnamed, strlen(unnamed)) == 0) {
            at += strlen(unnamed) - 1;
        } else if (*at == '.' || *at == ':' || *at == ' ') {
            name = at + 1;
        } else if (*at == '<') {
            if (at > name) length = (size_t)(at - name);
            at = closing(at);
            if (!*at) return false;
            if (at[1] != '(') name = at + 1, length = 0;
        } else if (*at == '(') {
            // A private name is `(name in _file)`.
            const char *const end = closing(at), *const file = strstr(at, " in ");
            if (at > name || length > 0) {
                if (length == 0) length = (size_t)(at - name);
                const bool may_be_helper = calls_parameter && has_function(at);
                return is_name_of_locking(name, length) ||
                       (may_be_helper && module && speaks_of_locks(module + 1, at));
            }
            if (!file || file > end) return false;
            name = at + 1;
            length = (size_t)(file - name);
            at = end;
            if (!*at) return false;
            if (at[1] == '.' || at[1] == ':') length = 0;
        }
    }
    return is_name_of_locking(name, strlen(name));
}

static bool is_helper(uintptr_t pc) {
    rl_line line;
    if (!rl_find_line(pc - 1, &line)) return false;
    const bool is_swift = strncmp(line.function, "$s", 2) == 0;
    const bool is_cxx = strncmp(line.function, "_Z", 2) == 0;
    if (!is_swift && !is_cxx) return rl_takes_lock_for_caller(line.function, false);
    if (is_swift ? !swift_demangle : !__cxa_demangle) return false;
    // A Swift function that cannot be kept for later has a type with this suffix.
    const bool calls_parameter = is_swift && strstr(line.function, "XE");
    char *signature = is_swift ? swift_demangle(line.function, strlen(line.function), NULL, NULL, 0)
                               : __cxa_demangle(line.function, NULL, NULL, NULL);
    const bool is = signature && rl_takes_lock_for_caller(signature, calls_parameter);
    free(signature);
    return is;
}

// MARK: - The caller

typedef struct {
    rl_place found;
    bool is_in_helper;
} search;

static _Unwind_Reason_Code look_for_caller(struct _Unwind_Context *frame, void *argument) {
    search *s = argument;
    const rl_place place = {_Unwind_GetIP(frame), _Unwind_GetCFA(frame)};
    if (!s->is_in_helper) {
        s->is_in_helper = place.stack == s->found.stack;
        return _URC_NO_REASON;
    }
    if (me->thread >= 0 && place.stack >= me->body) return _URC_END_OF_STACK;
    if (!rl_is_under_test(place.pc) || rl_is_compilers_own(place.pc)) return _URC_NO_REASON;
    if (rl_answer(RL_IS_HELPER, place.pc, is_helper)) return _URC_NO_REASON;
    s->found.pc = place.pc;
    return _URC_END_OF_STACK;
}

rl_place rl_call_of_helper(rl_place place) {
    if (!place.pc || !rl_answer(RL_IS_HELPER, place.pc, is_helper)) return place;
    search s = {.found = place};
    rl_ignore();
    _Unwind_Backtrace(look_for_caller, &s);
    rl_attend();
    return s.found;
}

#else

rl_place rl_call_of_helper(rl_place place) { return place; }

bool rl_takes_lock_for_caller(const char *signature, bool calls_parameter) {
    return (void)signature, (void)calls_parameter, false;
}

#endif
