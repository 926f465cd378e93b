// An arena. A piece of memory has a size that is a power of two; a piece that is discarded is used
// again for one of the same size. Large pieces come from the operating system one by one.
//
// What lasts as long as one run lies in chunks of its own, one piece after the other, and is
// discarded as a whole.

#include "Platform/memory.h"

#include "Platform/end.h"
#include "Platform/parker.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/// The header of each piece.
typedef struct piece {
    size_t size;         // with this header
    struct piece *next;  // the next one that is free
} piece;

enum { SMALLEST = 5, LARGEST = 18, ARENA = 1 << 20 };

static struct {
    atomic_flag is_locked;
    piece *free[LARGEST + 1];  // by the logarithm of their size
    char *unused;              // what is left of the last megabyte
    size_t left;
} arena = {.is_locked = ATOMIC_FLAG_INIT};

static __attribute__((noinline)) void wait_for_memory(void) {
    // A thread that was given up gets little of the processor, and may be the one to wait for.
    const struct timespec moment = {.tv_nsec = 20000};
    const int error = errno, patience = 1000;
    for (int i = 0; atomic_flag_test_and_set(&arena.is_locked); i++)
        if (i > patience) rl_nap(&moment);
    errno = error;
}

void rl_lock_memory(void) {
    if (atomic_flag_test_and_set(&arena.is_locked)) wait_for_memory();
}

void rl_unlock_memory(void) { atomic_flag_clear_explicit(&arena.is_locked, memory_order_release); }

static void *from_system(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static piece *unused_piece(size_t size) {
    if (arena.left < size) {
        // Where memory is short, there may be room for this piece at least.
        const size_t sizes[] = {ARENA, (size + 4095) & ~(size_t)4095};
        arena.unused = NULL;
        for (int i = 0; i < 2 && !arena.unused; i++)
            arena.unused = from_system(arena.left = sizes[i]);
        if (!arena.unused) arena.left = 0;
        if (!arena.unused) return NULL;
    }
    piece *p = (piece *)arena.unused;
    arena.unused += size;
    arena.left -= size;
    return p;
}

static piece *small_piece(int logarithm) {
    const size_t size = (size_t)1 << logarithm;
    rl_lock_memory();
    piece *p = arena.free[logarithm];
    if (p)
        arena.free[logarithm] = p->next;
    else
        p = unused_piece(size);
    rl_unlock_memory();
    if (p) memset(p, 0, size);
    return p;
}

/// The logarithm of the size of a piece that holds so much memory and its header.
static int logarithm_of(size_t size) {
    const int logarithm = 64 - __builtin_clzll((unsigned long long)(size + sizeof(piece) - 1));
    return logarithm < SMALLEST ? SMALLEST : logarithm;
}

void *rl_allocate(size_t size, const char *what) {
    const size_t page = 4096, most = SIZE_MAX / 2;
    const int logarithm = size > most ? 64 : logarithm_of(size);
    const size_t all = logarithm <= LARGEST ? (size_t)1 << logarithm
                                            : (size + sizeof(piece) + page - 1) & ~(page - 1);
    piece *p = size > most            ? NULL
               : logarithm <= LARGEST ? small_piece(logarithm)
                                      : from_system(all);
    if (!p)
        rl_end_process("RaceLab is out of memory: it could not allocate %zu bytes for %s", size,
                       what);
    p->size = all;
    return p + 1;
}

void rl_discard(void *memory) {
    if (!memory) return;
    piece *p = (piece *)memory - 1;
    if (p->size > (size_t)1 << LARGEST) {
        munmap(p, p->size);
        return;
    }
    const int logarithm = __builtin_ctzll((unsigned long long)p->size);
    rl_lock_memory();
    p->next = arena.free[logarithm];
    arena.free[logarithm] = p;
    rl_unlock_memory();
}

void *rl_grown(void *old, size_t used, size_t wanted, size_t size) {
    // If the product overflows, request more than there can be.
    void *fresh = rl_allocate(wanted > SIZE_MAX / size ? SIZE_MAX : wanted * size, "a table");
    if (old) memcpy(fresh, old, used * size);
    rl_discard(old);
    return fresh;
}

// MARK: - Memory of one run

typedef struct chunk {
    struct chunk *next;
    size_t size;  // without this header
} chunk;

static struct {
    chunk *first, *current;
    size_t used;  // of the current chunk
} of_run;

void *rl_allocate_in_run(size_t size, const char *what) {
    const size_t aligned = (size + 15) & ~(size_t)15;
    while (!of_run.current || of_run.current->size - of_run.used < aligned) {
        chunk **next = of_run.current ? &of_run.current->next : &of_run.first;
        if (!*next) {
            const size_t room = aligned > ARENA ? aligned : ARENA;
            *next = rl_allocate(room + sizeof(chunk), what);
            (*next)->size = room;
        }
        of_run.current = *next;
        of_run.used = 0;
    }
    void *memory = (char *)(of_run.current + 1) + of_run.used;
    of_run.used += aligned;
    return memory;
}

void *rl_grown_in_run(const void *old, size_t used, size_t wanted, size_t size) {
    void *fresh = rl_allocate_in_run(wanted * size, "a table of a run");
    if (used > 0) memcpy(fresh, old, used * size);
    return fresh;
}

void rl_discard_memory_of_run(void) {
    of_run.current = of_run.first;
    of_run.used = 0;
}
