#include "Symbols/functions.h"

#if defined(__linux__)

#include <string.h>

// The unwinder's index of functions. (Declared in no public header; libgcc and libunwind have it.)
struct dwarf_eh_bases {
    const void *text, *data, *function;
};
extern const void *_Unwind_Find_FDE(const void *pc, struct dwarf_eh_bases *bases);

/// An entry of the index is its length, an offset, and the function's start and size, all of four
/// bytes.
size_t rl_size_of_function(uintptr_t pc, uintptr_t *start) {
    struct dwarf_eh_bases bases;
    rl_ignore();
    const char *entry = _Unwind_Find_FDE((const void *)(pc - 1), &bases);
    rl_attend();
    if (!entry) return 0;
    uint32_t size;
    memcpy(&size, entry + 12, sizeof size);
    *start = (uintptr_t)bases.function;
    return pc - *start <= size ? size : 0;
}

// MARK: - Atomic operations
//
// The compiler turns each atomic operation of code compiled with `-sanitize=thread` into a call, but
// leaves `min` and `max` as instructions: LLVM's pass knows only the operations that the runtime of
// ThreadSanitizer has functions for. They are loops around an atomic instruction, which the rest of
// such code lacks. So the first time that a function is called, its instructions are searched.

#if defined(__x86_64__)
/// Returns the length of an atomic compare-and-exchange up to its opcode; 0 if it is another one.
///
/// These bytes can also be a part of a number, or of the distance to another function. The byte that
/// follows is then 0 or 255, or close to that. As the operands of this instruction it would make no
/// sense: a register in place of memory, or the register that holds the expected value for the new
/// value or for the address. No compiler writes that.
static size_t length_of_atomic(const uint8_t *code, size_t room) {
    size_t at = 0;
    bool is_locked = false;
    for (; at < room && (code[at] == 0xF0 || code[at] == 0x66); at++) is_locked |= code[at] == 0xF0;
    const uint8_t prefix = at < room && (code[at] & 0xF0) == 0x40 ? code[at++] : 0;
    const bool is_exchange = at + 2 < room && code[at] == 0x0F && (code[at + 1] & 0xFE) == 0xB0;
    if (!is_locked || !is_exchange) return 0;
    const uint8_t operands = code[at + 2];
    const bool is_register = operands >> 6 == 3;
    const bool is_expected_value = (operands >> 3 & 7) == 0 && !(prefix & 4);
    const bool is_address_in_it = (operands & 7) == 0 && !(prefix & 1);
    return is_register || is_expected_value || is_address_in_it ? 0 : at + 2;
}
enum { STRIDE = 1 };
#else
/// A store that fails if another processor has written, or one of the atomic instructions of later
/// processors.
static size_t length_of_atomic(const uint8_t *code, size_t room) {
    uint32_t word;
    if (room < sizeof word) return 0;
    memcpy(&word, code, sizeof word);
    const bool is_store = (word & 0x3FE00000) == 0x08000000;
    const bool is_exchange = (word & 0x3FA07C00) == 0x08A07C00;
    const bool is_arithmetic = (word & 0x3F200C00) == 0x38200000;
    return is_store || is_exchange || is_arithmetic ? sizeof word : 0;
}
enum { STRIDE = 4 };
#endif

uintptr_t rl_bare_atomic_near(uintptr_t pc) {
    uintptr_t start = 0;
    const size_t size = rl_size_of_function(pc, &start);
    const uint8_t *code = (const uint8_t *)start;
    for (size_t at = 0; at < size; at += STRIDE) {
        const size_t length = length_of_atomic(code + at, size - at);
        if (length > 0) return start + at + length;
    }
    return 0;
}

#else

size_t rl_size_of_function(uintptr_t pc, uintptr_t *start) { return (void)pc, (void)start, 0; }
uintptr_t rl_bare_atomic_near(uintptr_t pc) { return (void)pc, 0; }

#endif

// MARK: - Traps
//
// In a debug build, Swift checks arithmetic without a call: the operation sets a flag, a conditional
// jump leads to a trap at the end of the function, and the trap has no line. The jump belongs to the
// statement.

#if defined(__linux__) && defined(__x86_64__)

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

uintptr_t rl_overflow_before_trap(uintptr_t pc) { return (void)pc, 0; }

#endif
