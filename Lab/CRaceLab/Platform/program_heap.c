#include "Platform/program_heap.h"

#include <stdlib.h>

#if defined(__GLIBC__) && !defined(RL_WITHOUT_HOOKS)

#include "Platform/memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void __libc_free(void *memory);

// Each size has a region of slots. A slot ends with how much of it can be used, which is as much as
// the C library would give: an array learns from that how many elements fit.
enum {
    STEP = 16,
    SMALL = 32,  // sizes in steps of 16 bytes; the larger ones are powers of two
    LARGE = 6,
    REGION = 128 << 20,
    FIRST_PART = 64 << 10,
    WORDS = REGION / (2 * STEP) / 64,
};

typedef struct {
    size_t usable;  // how many bytes the system has made accessible
    size_t lowest;  // no word before this one has a free slot
    uint64_t used[WORDS];
    // What was freed to be reused later, and between which words that is.
    uint64_t freed[WORDS];
    size_t freed_begin, freed_end;
} region;

static region regions[SMALL + LARGE];

static const size_t size_of_all = (size_t)(SMALL + LARGE) * REGION;
static char *all;  // where the regions lie, one after the other; NULL: nowhere

/// At the start of the process, before it limits its address space. The address is the same in each
/// process, unless something else lies there, or the processor has fewer addresses.
__attribute__((constructor)) static void reserve_addresses(void) {
    void *found = mmap((void *)0x5A0000000000, size_of_all, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found != MAP_FAILED) all = found;
}

static size_t slot_size(int index) {
    return index < SMALL ? (size_t)(index + 2) * STEP : (size_t)1024 << (index - SMALL);
}

static int region_for(size_t slot) {
    const size_t most_small = (SMALL + 1) * STEP;
    if (slot <= most_small) return (int)(slot / STEP) - 2;
    const int logarithm = 64 - __builtin_clzll((unsigned long long)(slot - 1));
    return SMALL + logarithm - 10;
}

/// Makes a slot accessible, and those before it.
static bool is_accessible(region *r, char *start, size_t end) {
    if (end <= r->usable) return true;
    const size_t usable = r->usable ? 2 * r->usable : FIRST_PART;
    if (mprotect(start, usable, PROT_READ | PROT_WRITE) != 0) return false;
    r->usable = usable;
    return true;
}

static char *take_slot(int index) {
    region *r = &regions[index];
    char *start = all + (size_t)index * REGION;
    const size_t size = slot_size(index);
    while (r->lowest < WORDS && r->used[r->lowest] == UINT64_MAX) r->lowest++;
    if (r->lowest == WORDS) return NULL;
    const int bit = __builtin_ctzll(~r->used[r->lowest]);
    const size_t slot = r->lowest * 64 + (size_t)bit;
    if (slot >= REGION / size || !is_accessible(r, start, (slot + 1) * size)) return NULL;
    r->used[r->lowest] |= (uint64_t)1 << bit;
    return start + slot * size;
}

static size_t *usable_size_of(char *slot, int index) {
    return (size_t *)(slot + slot_size(index)) - 1;
}

void *rl_allocate_for_program(size_t size) {
    const size_t most = (size_t)1024 << (LARGE - 1);
    if (size > most - sizeof size) return NULL;
    const size_t rounded = (size + sizeof size + STEP - 1) / STEP * STEP;
    const size_t with_size = rounded < 2 * STEP ? 2 * STEP : rounded;
    const int index = region_for(with_size);
    rl_lock_memory();
    char *slot = all ? take_slot(index) : NULL;
    rl_unlock_memory();
    if (slot) *usable_size_of(slot, index) = with_size - sizeof size;
    return slot;
}

/// Where a slot lies, if one that is in use begins at this address.
typedef struct {
    int index;  // of the region
    size_t number;
    bool is_used;
} position;

static position position_of(const void *memory) {
    const size_t at = (size_t)((const char *)memory - all);
    const int index = (int)(at / REGION);
    const uint32_t size = (uint32_t)slot_size(index), within = (uint32_t)(at % REGION);
    const uint32_t number = within / size;
    const region *r = &regions[index];
    const uint64_t used = r->used[number / 64] & ~r->freed[number / 64];
    const bool is_used = number * size == within && (used >> number % 64 & 1);
    return (position){index, number, is_used};
}

static bool is_ours(const void *memory) {
    return all && (size_t)((const char *)memory - all) < size_of_all;
}

static void give_back(position p) {
    const size_t word = p.number / 64;
    region *r = &regions[p.index];
    r->used[word] &= ~((uint64_t)1 << p.number % 64);
    if (word < r->lowest) r->lowest = word;
}

static void give_back_later(position p) {
    const size_t word = p.number / 64;
    region *r = &regions[p.index];
    r->freed[word] |= (uint64_t)1 << p.number % 64;
    if (r->freed_begin == r->freed_end) r->freed_begin = r->freed_end = word;
    if (word < r->freed_begin) r->freed_begin = word;
    if (word >= r->freed_end) r->freed_end = word + 1;
}

/// Ends the process as the C library does, with its words.
static void end_because_of_pointer(void) {
    static _Alignas(16) uint64_t words[4];
    __libc_free(words + 1);  // No memory is aligned so.
    abort();
}

size_t rl_size_for_program(const void *memory) {
    if (!is_ours(memory)) return 0;
    const position p = position_of(memory);
    if (!p.is_used) end_because_of_pointer();
    return *usable_size_of((char *)memory, p.index);
}

static void free_memory(void *memory, void (*give)(position p)) {
    if (!is_ours(memory)) return __libc_free(memory);
    rl_lock_memory();
    const position p = position_of(memory);
    if (p.is_used) give(p);
    rl_unlock_memory();
    if (!p.is_used) end_because_of_pointer();
}

void rl_free_of_program(void *memory) { free_memory(memory, give_back); }
void rl_free_of_others(void *memory) { free_memory(memory, give_back_later); }

void rl_reuse_what_others_freed(void) {
    rl_lock_memory();
    for (region *r = regions; r < regions + SMALL + LARGE; r++) {
        if (r->freed_begin < r->freed_end && r->freed_begin < r->lowest) r->lowest = r->freed_begin;
        for (; r->freed_begin < r->freed_end; r->freed_begin++) {
            r->used[r->freed_begin] &= ~r->freed[r->freed_begin];
            r->freed[r->freed_begin] = 0;
        }
    }
    rl_unlock_memory();
}

// The kernel reads the new mask, if there is one, before it rejects the operation. The idea is from
// Abseil's `AddressIsReadable`.
static bool is_readable_to_system(const void *address) {
    const int error = errno, no_operation = -1;
    const long result = syscall(SYS_rt_sigprocmask, no_operation, address, NULL, 8);
    const bool is_readable = result == 0 || errno != EFAULT;
    errno = error;
    return is_readable;
}

bool rl_is_readable(const uintptr_t *word) {
    if (!word) return false;
    if (!is_ours(word)) return is_readable_to_system(word);
    const size_t at = (size_t)((const char *)word - all);
    return at % REGION < regions[at / REGION].usable;
}

#else

void rl_free_of_program(void *memory) { free(memory); }
void rl_free_of_others(void *memory) { free(memory); }
void rl_reuse_what_others_freed(void) {}
bool rl_is_readable(const uintptr_t *word) { return word != NULL; }

#endif
