// Finds the check that leads to a trap instruction.
//
// In a debug build, Swift checks arithmetic without a call: the operation sets a flag, a
// conditional jump leads to a trap at the end of the function, and the trap has no line. The jump
// belongs to the statement.

#include "Symbols/functions.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__) && defined(__x86_64__)

#include <string.h>

static bool is_trap(const uint8_t *code) { return code[0] == 0x0F && code[1] == 0x0B; }

/// Returns the length of a conditional jump to `target`; 0 if it is something else.
static size_t length_of_jump(const uint8_t *code, size_t room, uintptr_t target) {
    if (room >= 2 && (code[0] & 0xF0) == 0x70)
        return (uintptr_t)(code + 2) + (uintptr_t)(intptr_t)(int8_t)code[1] == target ? 2 : 0;
    if (room < 6 || code[0] != 0x0F || (code[1] & 0xF0) != 0x80) return 0;
    int32_t distance;
    memcpy(&distance, code + 2, sizeof distance);
    return (uintptr_t)(code + 6) + (uintptr_t)(intptr_t)distance == target ? 6 : 0;
}

/// Whether the jump is taken if an operation has overflowed: it depends on the overflow or the
/// carry flag, or on a byte that one of the instructions right before it sets from such a flag.
static bool is_about_overflow(const uint8_t *start, const uint8_t *jump) {
    const uint8_t condition = (jump[0] == 0x0F ? jump[1] : jump[0]) & 0x0F;
    const uint8_t overflow = 0, carry = 2;
    if (condition == overflow || condition == carry) return true;
    const ptrdiff_t reach = 12;
    for (const uint8_t *at = jump - 3; at >= start && jump - at <= reach; at--)
        if (at[0] == 0x0F && (at[1] == 0x90 || at[1] == 0x92)) return true;
    return false;
}

uintptr_t rl_overflow_before_trap(uintptr_t pc) {
    uintptr_t start = 0;
    const size_t size = rl_size_of_function(pc + 1, &start);
    if (size < 2 || pc > start + size - 2 || !is_trap((const uint8_t *)pc)) return 0;
    for (const uint8_t *at = (const uint8_t *)start; at < (const uint8_t *)pc; at++)
        if (length_of_jump(at, start + size - (uintptr_t)at, pc) > 0)
            return is_about_overflow((const uint8_t *)start, at) ? (uintptr_t)at : 0;
    return 0;
}

#else

uintptr_t rl_overflow_before_trap(uintptr_t pc) {
    (void)pc;
    return 0;
}

#endif
