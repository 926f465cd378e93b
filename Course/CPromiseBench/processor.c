#define _GNU_SOURCE
#include "CPromiseBench.h"

#ifdef __linux__
#include <sched.h>

bool promise_bench_use_one_processor(void) {
    int processor = sched_getcpu();
    if (processor < 0) return false;
    cpu_set_t processors;
    CPU_ZERO(&processors);
    CPU_SET(processor, &processors);
    return sched_setaffinity(0, sizeof processors, &processors) == 0;
}
#else
bool promise_bench_use_one_processor(void) { return false; }
#endif
