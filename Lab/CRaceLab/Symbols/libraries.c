#include "Symbols/libraries.h"

#include <dlfcn.h>
#include <string.h>

#if defined(__linux__)
#include <link.h>
#endif

static bool begins_with_any(const char *text, const char *const *beginnings) {
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0) return true;
    return false;
}

static const char *without_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/// Whether a path is in the folder of the library that contains a function.
static bool is_in_folder_of(const char *path, const char *function) {
    Dl_info info;
    if (!dladdr(dlsym(RTLD_NEXT, function), &info) || !info.dli_fname) return false;
    const size_t size = (size_t)(without_folder(info.dli_fname) - info.dli_fname);
    return size > 0 && strncmp(path, info.dli_fname, size) == 0;
}

/// The libraries of the system are known by name, those of the toolchain by name and folder. A
/// library of the program may be in that folder, or have a name that begins like one of theirs.
static bool is_library_of_toolchain(const char *path) {
    static const char *const of_swift[] = {"libFoundation", "lib_Foundation",   "libswift",
                                           "libdispatch",   "libBlocksRuntime", "libTesting",
                                           "lib_Testing",   "libXCTest",        NULL};
    static const char *const of_system[] = {"libc.so",   "libc-2",     "libpthread.", "libpthread-",
                                            "libstdc++", "libc++",     "libgcc_s",    "libm.",
                                            "libnss_",   "libresolv.", "librt.",      "libdl.",
                                            "ld-linux",  "linux-vdso", NULL};
    const char *name = without_folder(path);
    if (begins_with_any(name, of_system)) return true;
    if (!begins_with_any(name, of_swift)) return false;
    const size_t end_of_swift = strlen("libswift");
    const bool is_swift = strncmp(name, "libswift", end_of_swift) == 0;
    if (is_swift && name[end_of_swift] >= 'a' && name[end_of_swift] <= 'z') return false;
    return is_in_folder_of(path, "swift_getTypeByMangledName") ||
           is_in_folder_of(path, "dispatch_once_f");
}

/// Whether a toolchain function takes a lock, waits, starts a thread or uses a queue for its
/// caller.
static bool is_function_for_program(const char *symbol) {
    static const char *const names[] = {"$s10Foundation6NSLockC",
                                        "$s10Foundation9NSLocking",
                                        "$s10Foundation15NSRecursiveLockC",
                                        "$s10Foundation11NSConditionC",
                                        "$s10Foundation15NSConditionLockC",
                                        "$s10Foundation6ThreadC5start",
                                        "$s10Foundation6ThreadC12detachNew",
                                        "_CFThreadCreate",
                                        "$sSo17OS_dispatch_queueC",
                                        "$s8Dispatch",
                                        "dispatch_block_",
                                        NULL};
    return begins_with_any(symbol, names);
}

origin rl_find_origin(uintptr_t pc) {
    Dl_info info;
    if (!dladdr((void *)(pc - 1), &info) || !info.dli_fname) return OF_PROGRAM;
    if (!is_library_of_toolchain(info.dli_fname)) return OF_PROGRAM;
    // The registrar of an observable class takes a lock when a property is read, and two when it
    // changes. Between them come the observer's registration and its call.
    if (strstr(info.dli_fname, "libswiftObservation")) return FOR_PROGRAM;
    if (strstr(info.dli_fname, "libswiftDispatch")) return FOR_PROGRAM;
    bool is_foundation = strstr(info.dli_fname, "libFoundation.so");
    if (!info.dli_sname) return is_foundation ? NAMELESS : OF_TOOLCHAIN;
    return is_function_for_program(info.dli_sname) ? FOR_PROGRAM : OF_TOOLCHAIN;
}

bool rl_is_of_program(uintptr_t pc) {
    // Looking it up takes long, and Dispatch signals the same semaphore again and again.
    static _Thread_local struct {
        uintptr_t pc;
        bool is_of_program;
    } known[64];
    const size_t slot = (pc ^ pc >> 6) % 64;
    if (known[slot].pc != pc) {
        known[slot].is_of_program = rl_find_origin(pc) == OF_PROGRAM;
        known[slot].pc = pc;
    }
    return known[slot].is_of_program;
}

bool rl_is_global(uintptr_t address) {
#if defined(DLFO_STRUCT_HAS_EH_DBASE)  // the headers of glibc 2.35 and later
#pragma weak _dl_find_object
    // `dladdr` also looks for the symbol, among all those of the library. This takes no lock,
    // either, which another thread of a parent process could have held.
    struct dl_find_object library;
    if (_dl_find_object) return _dl_find_object((void *)address, &library) == 0;
#endif
    Dl_info info;
    return dladdr((void *)address, &info) != 0;
}

#if defined(__linux__)

typedef struct {
    uintptr_t address;
    library found;
} search;

static int look_at_library(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    search *s = argument;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[k];
        if (segment->p_type != PT_LOAD) continue;
        const uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (from < start) start = from;
        if (from + segment->p_memsz > end) end = from + segment->p_memsz;
    }
    if (s->address < start || s->address >= end) return 0;
    s->found = (library){info->dlpi_name, info->dlpi_addr, start, end};
    return 1;
}

library rl_library_with(uintptr_t address) {
    search s = {.address = address};
    dl_iterate_phdr(look_at_library, &s);
    return s.found;
}

bool rl_is_data_of_runtime(uintptr_t address) {
    static bool is_known;
    static library runtime;
    if (!is_known) {
        rl_ignore();
        runtime = rl_library_with((uintptr_t)dlsym(RTLD_NEXT, "swift_getGenericMetadata"));
        rl_attend();
        // A program that contains the runtime has variables of its own there.
        if (!runtime.path || !*runtime.path) runtime = (library){0};
        is_known = true;
    }
    return address - runtime.start < runtime.end - runtime.start;
}

#else

bool rl_is_data_of_runtime(uintptr_t address) {
    (void)address;
    return false;
}

#endif

const char *rl_name_of_library(uintptr_t pc) {
    Dl_info info;
    return dladdr((void *)(pc - 1), &info) && info.dli_fname ? without_folder(info.dli_fname) : "";
}

bool rl_is_in_library(uintptr_t pc, const char *name) {
    const char *file = rl_name_of_library(pc);
    return strncmp(file, name, strlen(name)) == 0 && file[strlen(name)] == '.';
}

const char *rl_name_of_function(uintptr_t pc) {
    Dl_info info;
    return dladdr((void *)(pc - 1), &info) ? info.dli_sname : NULL;
}
