// The entry point that makes objects.

#include "Hooks/next_symbol.h"
#include "Scheduler/observe.h"

#ifndef RL_WITHOUT_HOOKS

/// The metadata of a class begins with a number that stands for classes, or, on Apple's systems, with
/// a pointer. What closures capture is on the heap, too, and has other numbers.
static bool is_class(const void *type) {
    uintptr_t kind = *(const uintptr_t *)type;
    return kind == 0 || kind > 0x7FF;
}

typedef void *(*allocate)(const void *type, size_t size, size_t alignment_mask);
REAL(allocate, real_allocate, "swift_allocObject")

void *swift_allocObject(const void *type, size_t size, size_t alignment_mask) {
    void *object = real_allocate()(type, size, alignment_mask);
    if (is_class(type)) rl_note_object(object, size, type, RL_CALLER);
    return object;
}

#endif
