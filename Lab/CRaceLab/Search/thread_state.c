// The state of a thread: everything by which it could distinguish two rounds of a loop.
//
// That is its stack, the registers that a called function preserves, and the memory that it has
// allocated and can reach. A loop that allocates gets different addresses in each round, because
// freed memory is kept until the run is over. So the address of a recent block is replaced by the
// block's age: how many blocks were allocated after it.
//
// The state of a task is also in its own memory; where it yields, only there: then it holds no actor,
// and no lock that other threads could wait for.

#include "Search/thread_state.h"

#include "Platform/memory.h"
#include "State/blocks.h"

#include <setjmp.h>
#include <string.h>

/// The most blocks that are looked at.
enum { MOST_BLOCKS = 64 };

// MARK: - The state of a thread

/// The number of words at the beginning of a `jmp_buf` that hold callee-saved registers. On arm64
/// these are x19 to x30, the stack pointer (and a word of padding), and d8 to d15.
#if defined(__aarch64__)
#define SAVED_WORDS 22
#else
#define SAVED_WORDS 8
#endif
_Static_assert(SAVED_WORDS * sizeof(uint64_t) <= sizeof(jmp_buf), "they are all in it");

state rl_state_now(thread *t, uintptr_t stack, const uint64_t *registers) {
    const uint64_t *top = (const uint64_t *)(stack & ~(uintptr_t)7);
    return (state){.thread = t,
                   .registers = registers,
                   .stack = top,
                   .stack_count = (size_t)((const uint64_t *)me->stack_base - top),
                   .block_count = t->block_count};
}

/// Returns the contents of a block, or NULL if it is freed.
static const uint64_t *contents_of(const state *s, size_t index) {
    const block_of_memory *b = &s->thread->blocks[index];
    if (!s->blocks) return b->is_freed ? NULL : (const uint64_t *)b->start;
    const uint64_t *copy = s->blocks;
    for (size_t k = 0; k < index; k++) copy += 1 + s->thread->blocks[k].words;
    const bool is_freed = *copy;
    return is_freed ? NULL : copy + 1;
}

/// A look at such a state.
typedef struct {
    const state *state;
    uint64_t hash, number;       // `number` marks the blocks that have been visited
    size_t recent;               // blocks from this one on are replaced by their age
    size_t blocks[MOST_BLOCKS];  // the reachable blocks
    size_t block_count;
    bool is_partial;  // there is more than is looked at
} look;

static void reach(look *l, size_t index) {
    block_of_memory *b = &l->state->thread->blocks[index];
    if (b->looked_at_in == l->number || !contents_of(l->state, index)) return;
    if (l->block_count == MOST_BLOCKS || b->size > RL_MOST_BYTES) l->is_partial = true;
    if (l->block_count == MOST_BLOCKS) return;
    b->looked_at_in = l->number;
    l->blocks[l->block_count++] = index;
}

/// The value of a word in the fingerprint: pointers to recent memory differ between iterations.
static uint64_t seen_as(look *l, uint64_t word) {
    const thread *t = l->state->thread;
    const block_of_memory *b = rl_block_with(t, word);
    if (!b) return word;
    const size_t index = (size_t)(b - t->blocks);
    if (index >= l->state->block_count) return word;
    reach(l, index);
    if (index < l->recent) return word;
    const uint64_t age = l->state->block_count - index - 1;
    return age << 40 ^ (word - b->start) ^ 0x8000000000000000ull;
}

// The two functions below process a whole stack. Each is a single expression, because without
// optimization values stay in registers only within an expression.

static bool may_point_to_a_block(uintptr_t low, uintptr_t span, const uint64_t *w) {
    return (w[0] - low < span) | (w[1] - low < span) | (w[2] - low < span) | (w[3] - low < span) |
           (w[4] - low < span) | (w[5] - low < span) | (w[6] - low < span) | (w[7] - low < span);
}

/// Hashes eight words. The products are independent, so the processor can compute them in parallel.
static uint64_t mix_eight(uint64_t hash, const uint64_t *w) {
    return (hash ^ hash >> 32) * 0x9E3779B97F4A7C15ull +
           (w[0] * 0xC2B2AE3D27D4EB4Full + w[1] * 0x165667B19E3779F9ull) +
           (w[2] * 0x85EBCA77C2B2AE63ull + w[3] * 0x27D4EB2F165667C5ull) +
           (w[4] * 0xBF58476D1CE4E5B9ull + w[5] * 0x94D049BB133111EBull) +
           (w[6] * 0xD6E8FEB86659FD93ull + w[7] * 0xA0761D6478BD642Full);
}

static void look_at_words(look *l, const uint64_t *words, size_t count) {
    const thread *t = l->state->thread;
    const uintptr_t low = t->lowest, span = t->highest - low;
    for (size_t k = 0; k < count; k += 8) {
        const uint64_t *w = words + k;
        uint64_t eight[8] = {0};
        if (count - k < 8) w = memcpy(eight, w, (count - k) * sizeof *w);
        if (t->block_count > 0 && may_point_to_a_block(low, span, w)) {
            for (size_t i = 0; i < 8; i++) eight[i] = w[i] - low < span ? seen_as(l, w[i]) : w[i];
            w = eight;
        }
        l->hash = mix_eight(l->hash, w);
    }
}

static uint64_t next_number(void) {
    static uint64_t number;
    return ++number;
}

/// How many words of a block to look at. When a task falls asleep, the frames of the sleep are not
/// part of its state: they contain the time.
static size_t words_before_sleep(const thread *t, uintptr_t start, size_t words) {
    bool is_of_sleep = false;
    for (size_t k = 0; t->asleep_above && k < t->frame_count; k++) {
        const extent *f = &t->frames[k];
        is_of_sleep |= t->asleep_above - f->start < f->size;
        const size_t before = (f->start - start) / sizeof(uint64_t);
        if (is_of_sleep && f->start >= start && before < words) words = before;
    }
    return words;
}

static void look_at_reachable_blocks(look *l) {
    for (size_t k = 0; k < l->block_count; k++) {
        const size_t index = l->blocks[k];
        const block_of_memory *b = &l->state->thread->blocks[index];
        const size_t words = words_before_sleep(l->state->thread, b->start, b->words);
        look_at_words(l, contents_of(l->state, index), words);
    }
}

/// A hash of everything by which a thread could distinguish two iterations of a loop.
static uint64_t fingerprint(const state *s, size_t recent) {
    look l = {.state = s, .recent = recent, .number = next_number()};
    look_at_words(&l, s->registers, SAVED_WORDS);
    look_at_words(&l, s->stack, s->stack_count);
    look_at_reachable_blocks(&l);
    return l.hash;
}

/// The end of the block that contains the object of a task, or 0. Any thread may have allocated it.
static uintptr_t end_of_task(uintptr_t task) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        const block_of_memory *b = rl_block_with(&lab.run.threads[i], task);
        if (b) return b->start + b->size;
    }
    return 0;
}

/// The same for the memory of a task. A task whose state is not known completely differs from all
/// others.
static uint64_t fingerprint_of_task(const state *s, size_t recent) {
    look l = {.state = s, .recent = recent, .number = next_number()};
    const uintptr_t task = s->thread->task, end = end_of_task(task);
    if (end - task > RL_MOST_BYTES) return l.number;
    const size_t words = words_before_sleep(s->thread, task, (end - task) / sizeof(uint64_t));
    look_at_words(&l, (const uint64_t *)task, words);
    look_at_reachable_blocks(&l);
    return l.is_partial ? l.number : l.hash;
}

static uint64_t fingerprint_now(const state *s, size_t recent) {
    const thread *t = s->thread;
    if (!t->is_task) return fingerprint(s, recent);
    if (t->kind == RL_YIELD) return fingerprint_of_task(s, recent);
    if (!s->stack) return next_number();  // the place within the runtime is not known
    // After a suspension it may run on another stack.
    return fingerprint(s, recent) * 0x9E3779B97F4A7C15ull + fingerprint_of_task(s, recent) +
           t->jobs;
}

// MARK: - Copies

// Most places are visited once. So the first visit only copies the state of the thread, which takes
// far less time than a fingerprint; the second visit takes the fingerprint of that copy.

/// The maximum number of words in a copy, and in all copies of a thread. If there is no room, the
/// first visit takes the fingerprint.
enum { MOST_WORDS_AT_ONCE = 8 * 1024, MOST_WORDS = 128 * 1024 };

/// The copies of blocks follow one another, each after a word that says whether the block is freed.
static void copy_blocks(uint64_t *copy, const thread *t) {
    for (size_t k = 0; k < t->block_count; k++) {
        const block_of_memory *b = &t->blocks[k];
        *copy++ = b->is_freed;
        if (!b->is_freed) memcpy(copy, (const void *)b->start, b->words * sizeof *copy);
        copy += b->words;
    }
}

/// Copies a state, and notes in the visit where. Returns false if the copy would be too large.
static bool copy_state(visit *v, const state *s) {
    thread *t = s->thread;
    const size_t count = SAVED_WORDS + s->stack_count + t->block_count + t->block_words;
    if (count > MOST_WORDS_AT_ONCE || t->copied_count + count > MOST_WORDS) return false;
    if (!t->copied)
        t->copied = rl_allocate_in_run(MOST_WORDS * sizeof *t->copied, "the copy of a state");
    uint64_t *copy = t->copied + t->copied_count;
    memcpy(copy, s->registers, SAVED_WORDS * sizeof *copy);
    memcpy(copy + SAVED_WORDS, s->stack, s->stack_count * sizeof *copy);
    copy_blocks(copy + SAVED_WORDS + s->stack_count, t);
    v->copy = copy;
    v->stack_count = s->stack_count;
    t->copied_count += count;
    return true;
}

static uint64_t fingerprint_of_visit(thread *t, const visit *v) {
    if (!v->copy) return v->fingerprint;
    const uint64_t *stack = v->copy + SAVED_WORDS;
    const state s = {.thread = t,
                     .registers = v->copy,
                     .stack = stack,
                     .stack_count = v->stack_count,
                     .block_count = v->block_count,
                     .blocks = stack + v->stack_count};
    return fingerprint(&s, v->recent_of_copy);
}

void rl_keep_state(visit *v, const state *s) {
    const thread *t = s->thread;
    v->copy = NULL;
    v->recent_of_copy = v->recent;
    if (t->is_task && t->kind != RL_YIELD)
        v->fingerprint = next_number();
    else if (t->is_task || !copy_state(v, s))
        v->fingerprint = fingerprint_now(s, v->recent);
}

bool rl_is_as_before(visit *v, const state *s) {
    const uint64_t before = fingerprint_of_visit(s->thread, v);
    v->copy = NULL;
    v->fingerprint = fingerprint_now(s, v->recent);
    return v->fingerprint == before;
}
