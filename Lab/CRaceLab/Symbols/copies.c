#include "Symbols/copies.h"

#include "Symbols/call_sites.h"
#include "Symbols/functions.h"

#include <string.h>

bool rl_are_in_one_function(uintptr_t pc, uintptr_t other) {
    uintptr_t start = 0;
    rl_ignore();
    const size_t size = rl_size_of_function(pc, &start);
    rl_attend();
    return size > 0 && other - start <= size;
}

enum { UNKNOWN_YET, COPIES, COPIES_NOTHING };

#if defined(__x86_64__)
enum { CALL_SIZE = 5, CALL_STRIDE = 1 };
/// Returns the target of the direct call before a return address; 0 if there is none.
static uintptr_t target_of_call(uintptr_t pc) {
    const uint8_t *end = (const uint8_t *)pc;
    int32_t distance;
    memcpy(&distance, end - 4, sizeof distance);
    return end[-5] == 0xE8 ? pc + (uintptr_t)(intptr_t)distance : 0;
}
#else
enum { CALL_SIZE = 4, CALL_STRIDE = 4 };
static uintptr_t target_of_call(uintptr_t pc) {
    const uint32_t call = ((const uint32_t *)pc)[-1];
    const int32_t distance = (int32_t)(call << 6) >> 4;
    return call >> 26 == 0x25 ? pc - 4 + (uintptr_t)(intptr_t)distance : 0;
}
#endif

/// Whether a function that the compiler has made begins at an address.
static bool is_compilers_function(uintptr_t address) {
    uintptr_t start = 0;
    if (address == 0) return false;
    rl_ignore();
    const size_t size = rl_size_of_function(address + 1, &start);
    rl_attend();
    return size > 0 && start == address && rl_is_compilers_own(address + 1);
}

bool rl_copies_between(uintptr_t begin, uintptr_t end) {
    if (*rl_copying_at(end) != UNKNOWN_YET) return *rl_copying_at(end) == COPIES;
    bool is_copying = false;
    if (rl_are_in_one_function(begin, end))
        for (uintptr_t at = begin + CALL_SIZE; at < end && !is_copying; at += CALL_STRIDE)
            is_copying = is_compilers_function(target_of_call(at));
    *rl_copying_at(end) = is_copying ? COPIES : COPIES_NOTHING;
    return is_copying;
}
