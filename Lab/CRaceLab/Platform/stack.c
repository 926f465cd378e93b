#include "Platform/stack.h"

#include <string.h>
#include <sys/resource.h>

#define CLEAN(size)                       \
    volatile char room[size];             \
    memset((char *)room, 0, sizeof room); \
    __asm__ volatile("" ::"r"(room) : "memory")

__attribute__((noinline)) void rl_clean_top_of_stack(void) { CLEAN(512); }
__attribute__((noinline)) void rl_clean_stack(void) { CLEAN(2048); }
__attribute__((noinline)) void rl_clean_whole_stack(void) { CLEAN(16 * 1024); }

size_t rl_size_of_stack(void) {
    const size_t usual = 8 << 20, least = 1 << 20;
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return usual;
    // A process may have a huge limit, and there are many threads.
    const size_t most = 64 << 20, size = (size_t)limit.rlim_cur & ~(size_t)0xFFFF;
    return size < least ? least : size > most ? most : size;
}

void rl_allow_stack(size_t size) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    limit.rlim_cur += size;
    setrlimit(RLIMIT_DATA, &limit);
}
