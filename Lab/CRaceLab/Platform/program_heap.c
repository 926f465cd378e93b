#include "Platform/program_heap.h"

#include "Platform/memory.h"

#include <stdlib.h>

#if defined(__GLIBC__)

#include <sys/mman.h>

extern void __libc_free(void *memory);

// Each size has a region of slots. A slot ends with how much of it can be used, which is as much as
// the C library would give: an array learns from that how many elements fit.
enum {
    STEP = 16,
    SMALL = 32,  // sizes in steps of 16 bytes; the larger ones are powers of two
    LARGE = 6,
    REGION = 256 << 20,
    FIRST_PART = 64 << 10,
    WORDS = REGION / (2 * STEP) / 64,
};

static struct {
    size_t usable;  // how many bytes the system has made accessible
    size_t lowest;  // no word before this one has a free slot
    uint64_t used[WORDS];
} regions[SMALL + LARGE];

static const size_t size_of_all = (size_t)(SMALL + LARGE) * REGION;
static char *all;  // where the regions lie, one after the other; NULL: nowhere

/// At the start of the process, before anything limits its address space. The address is the same in
/// each process, unless something else lies there.
__attribute__((constructor)) static void reserve_addresses(void) {
    void *found = mmap((void *)0x5A0000000000, size_of_all, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found != MAP_FAILED) all = found;
}

static size_t slot_size(int region) {
    return region < SMALL ? (size_t)(region + 2) * STEP : (size_t)1024 << (region - SMALL);
}

static int region_for(size_t slot) {
    const size_t least = 2 * STEP, most_small = (SMALL + 1) * STEP;
    if (slot <= most_small) return slot < least ? 0 : (int)(slot / STEP) - 2;
    const int logarithm = 64 - __builtin_clzll((unsigned long long)(slot - 1));
    return SMALL + logarithm - 10;
}

/// Makes a slot accessible, and those before it.
static bool is_accessible(int region, char *start, size_t end) {
    size_t usable = regions[region].usable;
    if (end <= usable) return true;
    usable = usable ? 2 * usable : FIRST_PART;
    if (usable > REGION || mprotect(start, usable, PROT_READ | PROT_WRITE) != 0) return false;
    regions[region].usable = usable;
    return true;
}

static char *take_slot(int region, char *start) {
    const size_t size = slot_size(region), slots = REGION / size;
    uint64_t *used = regions[region].used;
    size_t word = regions[region].lowest;
    while (word < WORDS && used[word] == UINT64_MAX) word++;
    regions[region].lowest = word;
    if (word == WORDS) return NULL;
    const int bit = __builtin_ctzll(~used[word]);
    const size_t slot = word * 64 + (size_t)bit;
    if (slot >= slots || !is_accessible(region, start, (slot + 1) * size)) return NULL;
    used[word] |= (uint64_t)1 << bit;
    return start + slot * size;
}

static size_t *usable_size_of(char *slot, int region) {
    return (size_t *)(slot + slot_size(region)) - 1;
}

void *rl_allocate_for_program(size_t size) {
    const size_t most = (size_t)1024 << (LARGE - 1);
    if (size > most - sizeof size) return NULL;
    const size_t rounded = (size + sizeof size + STEP - 1) / STEP * STEP;
    const size_t with_size = rounded < 2 * STEP ? 2 * STEP : rounded;
    const int region = region_for(with_size);
    rl_lock_memory();
    char *slot = all ? take_slot(region, all + (size_t)region * REGION) : NULL;
    rl_unlock_memory();
    if (slot) *usable_size_of(slot, region) = with_size - sizeof size;
    return slot;
}

/// Where a slot lies, if one that is in use begins at this address.
typedef struct {
    int region;
    size_t number;
    bool is_used;
} position;

static position position_of(const void *memory) {
    const size_t at = (size_t)((const char *)memory - all);
    const int region = (int)(at / REGION);
    const size_t size = slot_size(region), number = at % REGION / size;
    const bool is_used = at % REGION % size == 0 && number / 64 < WORDS &&
                         (regions[region].used[number / 64] >> number % 64 & 1);
    return (position){region, number, is_used};
}

static bool is_ours(const void *memory) {
    return all && (size_t)((const char *)memory - all) < size_of_all;
}

size_t rl_size_for_program(const void *memory) {
    if (!is_ours(memory)) return 0;
    const position p = position_of(memory);
    return p.is_used ? *usable_size_of((char *)memory, p.region) : 0;
}

static void give_back(position p) {
    const size_t word = p.number / 64;
    regions[p.region].used[word] &= ~((uint64_t)1 << p.number % 64);
    if (word < regions[p.region].lowest) regions[p.region].lowest = word;
}

/// What other threads have freed. Each piece begins with the address of the next one.
static void *of_others;

static void free_memory(void *memory, bool is_of_others) {
    // The C library ends the process if the address is not one of memory that is in use.
    if (!is_ours(memory)) return __libc_free(memory);
    rl_lock_memory();
    const position p = position_of(memory);
    if (p.is_used && is_of_others) {
        *(void **)memory = of_others;
        of_others = memory;
    } else if (p.is_used) {
        give_back(p);
    }
    rl_unlock_memory();
    if (!p.is_used) __libc_free(memory);
}

void rl_free_of_program(void *memory) { free_memory(memory, false); }
void rl_free_of_others(void *memory) { free_memory(memory, true); }

void rl_reuse_what_others_freed(void) {
    rl_lock_memory();
    // What was freed twice is in the list twice, which then has no end.
    while (of_others && position_of(of_others).is_used) {
        void *next = *(void **)of_others;
        give_back(position_of(of_others));
        of_others = next;
    }
    of_others = NULL;
    rl_unlock_memory();
}

#else

void rl_free_of_program(void *memory) { free(memory); }
void rl_free_of_others(void *memory) { free(memory); }
void rl_reuse_what_others_freed(void) {}

#endif
