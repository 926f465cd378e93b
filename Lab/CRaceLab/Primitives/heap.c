// The functions that allocate and free memory, and the one that allocates objects.

#include "Model/misuse.h"
#include "Platform/memory.h"
#include "Platform/program_heap.h"
#include "Platform/stack.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/observe.h"
#include "State/blocks.h"
#include "State/shadow.h"

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

#if defined(__GLIBC__)

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/// A thread that was given up may allocate and free something at any moment.
static bool is_given_up(void) { return me && me->fate != STAYS; }

static bool is_setting_up(void) { return lab.run.is_setting_up && rl_is_between_runs_here(); }

static bool is_for_program(void) {
    return (rl_active || (is_setting_up() && !rl_is_ignoring())) && !is_given_up();
}

static void *allocated(void *memory, size_t size) {
    if (rl_active)
        rl_allocated(memory, size);
    else if (memory && is_setting_up())
        rl_allocated_in_set_up(memory, size);
    return memory;
}

void *malloc(size_t size) {
    void *memory = is_for_program() ? rl_allocate_for_program(size) : NULL;
    return allocated(memory ? memory : __libc_malloc(size), size);
}

size_t malloc_usable_size(void *memory) {
    const size_t size = memory ? rl_size_for_program(memory) : 0;
    return size > 0 ? size : REAL(malloc_usable_size)(memory);
}

/// For memory with an alignment of 16 and more, such as that behind an unsafe pointer.
int posix_memalign(void **memory, size_t alignment, size_t size) {
    const bool is_power = alignment > 0 && (alignment & (alignment - 1)) == 0;
    if (!is_power || alignment % sizeof(void *) != 0) return EINVAL;
    void *fresh = allocated(__libc_memalign(alignment, size), size);
    if (fresh) *memory = fresh;
    return fresh ? 0 : ENOMEM;
}

void *realloc(void *memory, size_t size) {
    if (!memory) return malloc(size);
    if (!rl_is_of_lab() && rl_size_for_program(memory) == 0) return __libc_realloc(memory, size);
    // The old block is kept like any other that is freed.
    void *fresh = size > 0 ? malloc(size) : NULL;
    const size_t old_size = malloc_usable_size(memory);
    if (fresh) memcpy(fresh, memory, old_size < size ? old_size : size);
    if (fresh || size == 0) free(memory);
    return fresh;
}

/// Keeps memory that is being freed from being reused during the run, so that an address identifies
/// one object. Memory that has been freed already is left alone, and that is a misuse. Returns
/// false if the caller has to free it now.
static bool keep(void *memory, rl_place place) {
    if (!me || is_given_up()) return false;
    const uint64_t mark = (uint64_t)1 << ((uintptr_t)memory / 16 % 64);
    if (me->thread < 0 && !(lab.run.marks_of_kept & mark)) return false;
    object_record *o = me->thread < 0 ? rl_known_object(memory) : rl_object_at(memory);
    if (o && o->is_freed) {
        rl_frees_again(memory, place);
        return true;
    }
    if (me->thread < 0) return false;
    o->is_freed = true;
    block_of_memory *b = rl_block_with(my_thread(), (uintptr_t)memory);
    if (b && b->start == (uintptr_t)memory) b->is_freed = true;
    MAKE_ROOM(lab.run.kept, lab.run.kept_count, lab.run.kept_capacity, 1024);
    lab.run.kept[lab.run.kept_count++] = memory;
    lab.run.marks_of_kept |= mark;
    rl_clean_top_of_stack();
    return true;
}

void free(void *memory) {
    if (!memory || keep(memory, RL_CALLER)) return;
    rl_forget_object(memory);
    if (rl_is_of_lab() && !is_given_up())
        rl_free_of_program(memory);
    else
        rl_free_of_others(memory);
}

#endif

#endif
