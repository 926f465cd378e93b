#include "State/blocks.h"

#include "Platform/memory.h"
#include "Platform/stack.h"

#include <string.h>

/// Returns how many blocks of a thread begin at or before an address.
static size_t blocks_up_to(const thread *t, uintptr_t address) {
    size_t low = 0, high = t->block_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (t->blocks[t->by_address[middle]].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

block_of_memory *rl_block_with(const thread *t, uintptr_t address) {
    const size_t count = blocks_up_to(t, address);
    if (count == 0) return NULL;
    block_of_memory *b = &t->blocks[t->by_address[count - 1]];
    return address - b->start < b->size ? b : NULL;
}

block_of_memory *rl_block_of_any(uintptr_t address, int *owner) {
    for (*owner = 0; *owner < lab.run.thread_count; (*owner)++) {
        block_of_memory *b = rl_block_with(&lab.run.threads[*owner], address);
        if (b) return b;
    }
    return NULL;
}

block_of_memory *rl_unordered_block(uintptr_t address) {
    int owner;
    block_of_memory *b = rl_block_of_any(address, &owner);
    return b && owner != me->thread && b->since > my_thread()->clock.ordered[owner] ? b : NULL;
}

static void add_block(thread *t, uintptr_t start, size_t size) {
    MAKE_ROOM(t->blocks, t->block_count, t->block_capacity, 64);
    MAKE_ROOM(t->by_address, t->block_count, t->by_address_capacity, 64);
    if (t->block_count == 0 || start < t->lowest) t->lowest = start;
    if (t->block_count == 0 || start + size > t->highest) t->highest = start + size;
    uint32_t *place = t->by_address + blocks_up_to(t, start);
    memmove(place + 1, place, (size_t)(t->by_address + t->block_count - place) * sizeof *place);
    *place = (uint32_t)t->block_count;
    const size_t words = (size < RL_MOST_BYTES ? size : RL_MOST_BYTES) / sizeof(uint64_t);
    t->blocks[t->block_count++] = (block_of_memory){
        .start = start, .size = size, .words = words, .since = t->clock.at[me->thread]};
    t->block_words += words;
}

void rl_allocated(void *memory, size_t size) {
    if (!memory || !rl_on_lab_thread() || me->fate != STAYS) return;
    thread *t = my_thread();
    // The previous contents are not part of the state of the thread.
    memset(memory, 0, size < RL_MOST_BYTES ? size : RL_MOST_BYTES);
    rl_ignore();
    add_block(t, (uintptr_t)memory, size);
    rl_attend();
    rl_clean_top_of_stack();
}

extent rl_extent_with(uintptr_t address) {
    int owner;
    const block_of_memory *b = rl_block_of_any(address, &owner);
    if (b) return (extent){b->start, b->size};
    // The memory of a block that was freed may be that of a later one.
    for (size_t i = lab.run.set_up_count; i > 0; i--) {
        const extent b = lab.run.set_up_blocks[i - 1];
        if (address - b.start < b.size) return b;
    }
    return (extent){0, 0};
}

// MARK: - The stacks of tasks

void rl_add_frame(thread *t, uintptr_t start, size_t size) {
    MAKE_ROOM(t->frames, t->frame_count, t->frame_capacity, 8);
    if (t->frame_count == 0) t->frames_begin = t->frames_end = start;
    if (start < t->frames_begin) t->frames_begin = start;
    if (start + size > t->frames_end) t->frames_end = start + size;
    t->frames[t->frame_count++] = (extent){start, size};
}

void rl_remove_frames(thread *t, uintptr_t start) {
    for (size_t i = t->frame_count; i > 0; i--)
        if (t->frames[i - 1].start == start) t->frame_count = i - 1;
}

bool rl_is_in_frame(const thread *t, uintptr_t address) {
    if (address - t->frames_begin >= t->frames_end - t->frames_begin) return false;
    // Mostly it is one of the last.
    for (const extent *f = t->frames + t->frame_count; f-- > t->frames;)
        if (address - f->start < f->size) return true;
    return false;
}

// MARK: - Memory of the set-up

void rl_allocated_in_set_up(void *memory, size_t size) {
    if (me->fate != STAYS) return;
    rl_ignore();
    MAKE_ROOM(lab.run.set_up_blocks, lab.run.set_up_count, lab.run.set_up_capacity, 256);
    lab.run.set_up_blocks[lab.run.set_up_count++] = (extent){(uintptr_t)memory, size};
    rl_attend();
}
