// The entry point that allocates objects.

#include "Primitives/next_symbol.h"
#include "Scheduler/observe.h"

#ifndef RL_WITHOUT_HOOKS

/// The metadata of a class begins with the kind number of classes or, on Apple platforms, with a
/// pointer. Captured contexts of closures are on the heap, too, but have other kind numbers.
static bool is_class(const void *type) {
    uintptr_t kind = *(const uintptr_t *)type;
    return kind == 0 || kind > 0x7FF;
}

void *swift_allocObject(const void *type, size_t size, size_t alignment_mask) {
    void *object = REAL(swift_allocObject)(type, size, alignment_mask);
    if (is_class(type)) rl_note_object(object, size, type, RL_CALLER);
    return object;
}

#endif
