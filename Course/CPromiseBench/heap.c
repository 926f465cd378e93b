// Counts what the program takes from the heap, by standing in for the functions that give it out.
// The real ones can be reached by other names in the GNU C library; elsewhere nothing is counted.

#include "CPromiseBench.h"
#include <stdlib.h>

// A sanitizer stands in for the same functions, and it was there first.
#if defined(__GLIBC__) && !__has_feature(thread_sanitizer) && !__has_feature(address_sanitizer)
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

// One look at this flag is all that the counting costs while times are measured.
static atomic_bool counting;
static atomic_long blocks;
static atomic_long bytes;
static atomic_long taken_blocks;
static atomic_long taken_bytes;

static void count(void *block, long sign) {
    if (!atomic_load_explicit(&counting, memory_order_relaxed) || !block) return;
    atomic_fetch_add_explicit(&blocks, sign, memory_order_relaxed);
    // What the block really takes up, with the eight bytes in front of it.
    long size = (long)(malloc_usable_size(block) + sizeof(size_t));
    atomic_fetch_add_explicit(&bytes, sign * size, memory_order_relaxed);
    if (sign < 0) return;
    atomic_fetch_add_explicit(&taken_blocks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&taken_bytes, size, memory_order_relaxed);
}

void *malloc(size_t size) {
    void *block = __libc_malloc(size);
    count(block, 1);
    return block;
}

void *calloc(size_t number, size_t size) {
    void *block = __libc_calloc(number, size);
    count(block, 1);
    return block;
}

void *realloc(void *old, size_t size) {
    count(old, -1);
    void *block = __libc_realloc(old, size);
    count(block, 1);
    return block;
}

void *memalign(size_t alignment, size_t size) {
    void *block = __libc_memalign(alignment, size);
    count(block, 1);
    return block;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *block = memalign(alignment, size);
    if (!block) return ENOMEM;
    *result = block;
    return 0;
}

void free(void *block) {
    count(block, -1);
    __libc_free(block);
}

bool promise_bench_counts_heap(void) { return true; }

void promise_bench_start_counting(void) {
    atomic_store(&blocks, 0);
    atomic_store(&bytes, 0);
    atomic_store(&taken_blocks, 0);
    atomic_store(&taken_bytes, 0);
    atomic_store(&counting, true);
}

promise_bench_heap promise_bench_stop_counting(void) {
    atomic_store(&counting, false);
    return (promise_bench_heap){
        atomic_load(&blocks), atomic_load(&bytes), atomic_load(&taken_blocks),
        atomic_load(&taken_bytes)};
}
#else
bool promise_bench_counts_heap(void) { return false; }
void promise_bench_start_counting(void) {}
promise_bench_heap promise_bench_stop_counting(void) { return (promise_bench_heap){0, 0, 0, 0}; }
#endif
