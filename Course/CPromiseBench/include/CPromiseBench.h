#ifndef PROMISE_BENCH_H
#define PROMISE_BENCH_H

#include <stdbool.h>

/// Confines the process, with all threads that it will start, to the processor on which it is
/// running now. Says whether that worked; it does on Linux only. To be called before the first
/// thread is started.
bool promise_bench_use_one_processor(void);

/// What has been allocated and not freed, and what has been allocated in all.
typedef struct {
    long blocks;
    long bytes;
    long taken_blocks;
    long taken_bytes;
} promise_bench_heap;

/// Whether this build can look at the heap.
bool promise_bench_counts_heap(void);

/// Begins to count at zero, on all threads.
void promise_bench_start_counting(void);

/// Stops counting, and returns what has come to it since it was started.
promise_bench_heap promise_bench_stop_counting(void);

#endif
