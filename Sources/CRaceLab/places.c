// Whose call it is: of the code under test, of the libraries it uses, or of the compiler.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "laboratory.h"

#ifndef RL_UNDER_THREAD_SANITIZER

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// MARK: - What is known of a place has to be found out once

typedef enum {
    UNKNOWN = 0,
    OF_PROGRAM,         // the code under test, or a library that is no part of the toolchain
    FOR_PROGRAM,        // a function of the toolchain that does nothing else for its caller
    NAMELESS,           // a function of the toolchain that has no name to go by
    OF_TOOLCHAIN,       // the libraries' own affairs
} origin;

typedef struct {
    uintptr_t pc;
    uint8_t origin;
    bool compilers_own_is_known, is_compilers_own;
} call_site;

static call_site *call_sites;
static size_t call_site_count, call_site_capacity;

static call_site *slot_of(uintptr_t pc) {
    size_t at = (size_t)((uint64_t)pc * 0x9E3779B97F4A7C15ull >> 20) & (call_site_capacity - 1);
    while (call_sites[at].pc && call_sites[at].pc != pc) at = (at + 1) & (call_site_capacity - 1);
    return &call_sites[at];
}

static call_site *call_site_of(uintptr_t pc) {
    if (2 * call_site_count >= call_site_capacity) {
        call_site *old = call_sites;
        size_t old_capacity = call_site_capacity;
        call_site_capacity = old_capacity ? 2 * old_capacity : 256;
        call_sites = calloc(call_site_capacity, sizeof *call_sites);
        if (!call_sites) abort();
        for (size_t i = 0; i < old_capacity; i++)
            if (old[i].pc) *slot_of(old[i].pc) = old[i];
        if (old) discard(old);
    }
    call_site *site = slot_of(pc);
    if (!site->pc) {
        site->pc = pc;
        call_site_count++;
    }
    return site;
}

// MARK: - The program and the toolchain's libraries

static bool begins_with_any(const char *text, const char *const *beginnings) {
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0) return true;
    return false;
}

static bool is_library_of_toolchain(const char *path) {
    static const char *const names[] = {
        "libFoundation", "lib_Foundation", "libswift", "libdispatch", "libBlocksRuntime",
        "libTesting", "lib_Testing", "libXCTest", "libc.so", "libc-", "libpthread", "libstdc++",
        "libc++", "libgcc_s", "ld-linux", "linux-vdso", NULL};
    const char *name = strrchr(path, '/');
    return begins_with_any(name ? name + 1 : path, names);
}

/// What takes a lock, waits, starts a thread or uses a queue because that is what it is asked for.
static bool is_function_for_program(const char *symbol) {
    static const char *const names[] = {
        "$s10Foundation6NSLockC", "$s10Foundation9NSLocking", "$s10Foundation15NSRecursiveLockC",
        "$s10Foundation11NSConditionC", "$s10Foundation15NSConditionLockC",
        "$s10Foundation6ThreadC5start", "$s10Foundation6ThreadC12detachNew", "_CFThreadCreate",
        "$sSo17OS_dispatch_queueC", "$s8Dispatch", NULL};
    return begins_with_any(symbol, names);
}

static origin find_origin(uintptr_t pc) {
    Dl_info info;
    if (!dladdr((void *)(pc - 1), &info) || !info.dli_fname) return OF_PROGRAM;
    if (!is_library_of_toolchain(info.dli_fname)) return OF_PROGRAM;
    if (strstr(info.dli_fname, "libswiftDispatch")) return FOR_PROGRAM;
    if (!info.dli_sname) return NAMELESS;
    return is_function_for_program(info.dli_sname) ? FOR_PROGRAM : OF_TOOLCHAIN;
}

static origin origin_of(uintptr_t pc) {
#if defined(__linux__)
    extern const char __executable_start, etext;
    if (pc - (uintptr_t)&__executable_start < (uintptr_t)(&etext - &__executable_start))
        return OF_PROGRAM;
#endif
    call_site *site = call_site_of(pc);
    if (site->origin == UNKNOWN) {
        rl_ignore();
        site->origin = (uint8_t)find_origin(pc);
        rl_attend();
    }
    return (origin)site->origin;
}

bool rl_is_under_test(uintptr_t pc) { return origin_of(pc) == OF_PROGRAM; }

bool rl_is_call_of_program(rl_place *place) {
    if (me->fate == IS_LOST) rl_give_up();
    origin from = origin_of(place->pc);
    if (from == OF_PROGRAM) return true;
    if (from == OF_TOOLCHAIN) return false;
    bool is_for_program = from == FOR_PROGRAM;
    // `stack` is where the frame of the function ends that made the call; its own frame pointer
    // is what ours has saved.
    uintptr_t *frame = *(uintptr_t **)(place->stack - 2 * sizeof(void *));
    for (int depth = 0; depth < 32; depth++) {
        bool is_frame = (uintptr_t)frame >= place->stack && (uintptr_t)frame < me->stack_base &&
                        (uintptr_t)frame % sizeof(void *) == 0;
        if (!is_frame) break;
        rl_place above = {frame[1], (uintptr_t)(frame + 2)};
        from = origin_of(above.pc);
        if (from == OF_PROGRAM) {
            *place = above;
            return true;
        }
        is_for_program |= from == FOR_PROGRAM;
        if (!is_for_program) return false;
        frame = (uintptr_t *)frame[0];
    }
    return is_for_program;
}

// MARK: - Atomics of the compiler's own

/// Generic code keeps what it once looked up (type metadata, witness tables) in caches, which it
/// reads and writes atomically. They are no part of the program that a person wrote, and would
/// make the first run differ from the others.
bool rl_is_compilers_own(uintptr_t pc) {
    call_site *site = call_site_of(pc);
    if (site->compilers_own_is_known) return site->is_compilers_own;
    rl_ignore();
    bool answer = lab.scenario->is_compilers_own(pc);
    rl_attend();
    // The table may have grown meanwhile.
    site = call_site_of(pc);
    site->compilers_own_is_known = true;
    return site->is_compilers_own = answer;
}

#endif
