// The sources of random numbers. The code under test receives the same numbers in every run.

#include "Primitives/next_symbol.h"
#include "Primitives/outer_state.h"
#include "Scheduler/early_end.h"
#include "State/inputs.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/// The standard library's generator, and what is built on it, call the system directly.
long rl_call_system(long number, ...) __asm__("syscall");

long rl_call_system(long number, ...) {
    long a[6];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_getrandom && rl_runs_scenario()) {
        rl_draw((void *)a[0], (size_t)a[1]);
        return a[1];
    }
    if ((number == SYS_exit_group || number == SYS_exit) && rl_would_end_exploration())
        rl_end_early("syscall", (int)a[0], RL_CALLER);
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t getrandom(void *memory, size_t size, unsigned flags) {
    if (!rl_runs_scenario()) return REAL(getrandom)(memory, size, flags);
    rl_draw(memory, size);
    return (ssize_t)size;
}

int getentropy(void *memory, size_t size) {
    if (!rl_runs_scenario()) return REAL(getentropy)(memory, size);
    rl_draw(memory, size);
    return 0;
}

/// `/dev/random` or `/dev/urandom`.
static bool is_source(int file) {
    struct stat status;
    return fstat(file, &status) == 0 && S_ISCHR(status.st_mode) && major(status.st_rdev) == 1 &&
           (minor(status.st_rdev) == 8 || minor(status.st_rdev) == 9);
}

ssize_t read(int file, void *memory, size_t size) {
    rl_use_descriptor(file, RL_LOOKS, true, RL_CALLER);
    if (!rl_runs_scenario() || !is_source(file)) return REAL(read)(file, memory, size);
    rl_draw(memory, size);
    return (ssize_t)size;
}

static uint64_t drawn(void) {
    uint64_t number;
    rl_draw(&number, sizeof number);
    return number;
}

void arc4random_buf(void *memory, size_t size) {
    if (rl_runs_scenario()) return rl_draw(memory, size);
    REAL(arc4random_buf)(memory, size);
}

uint32_t arc4random_uniform(uint32_t limit) {
    if (!rl_runs_scenario()) return REAL(arc4random_uniform)(limit);
    return limit > 1 ? (uint32_t)(drawn() % limit) : 0;
}

#define DRAWS(type, name, value) \
    type name(void) { return rl_runs_scenario() ? (type)(value) : REAL(name)(); }

DRAWS(uint32_t, arc4random, drawn())
DRAWS(int, rand, drawn() & RAND_MAX)
DRAWS(long, random, drawn() & 0x7FFFFFFF)
DRAWS(long, lrand48, drawn() & 0x7FFFFFFF)
DRAWS(long, mrand48, (int32_t)drawn())
DRAWS(double, drand48, (double)(drawn() >> 11) / 9007199254740992.0)

#endif
