// Makes the order of sets and dictionaries the same in every run and in every process. The standard
// library chooses it by chance otherwise, and a lock that is chosen by it would be another one each time.

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t first_seed, second_seed;
    bool is_deterministic;      // no table has a seed of its own, which would be its address
} hashing_parameters;

extern hashing_parameters _swift_stdlib_Hashing_parameters;

/// Does what SWIFT_DETERMINISTIC_HASHING does in the environment, before anything is hashed: tables that
/// exist would become useless.
__attribute__((constructor)) static void make_hashing_deterministic(void) {
    _swift_stdlib_Hashing_parameters = (hashing_parameters){.is_deterministic = true};
}
