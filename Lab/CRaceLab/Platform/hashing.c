// Gives sets and dictionaries the same order in every run and every process. By default the
// standard library randomizes it, so a lock chosen by iteration order would differ from run to run.

#include "Platform/build.h"

#ifndef RL_WITHOUT_HOOKS

typedef struct {
    uint64_t first_seed, second_seed;
    bool is_deterministic;  // if false, each table's seed is its address
} hashing_parameters;

extern hashing_parameters _swift_stdlib_Hashing_parameters;

/// Has the same effect as SWIFT_DETERMINISTIC_HASHING in the environment. Runs before anything is
/// hashed: a change of seed would break existing tables.
__attribute__((constructor)) static void make_hashing_deterministic(void) {
    _swift_stdlib_Hashing_parameters = (hashing_parameters){.is_deterministic = true};
}

#endif
