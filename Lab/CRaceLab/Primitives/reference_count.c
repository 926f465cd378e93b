// The functions of the Swift runtime that count references. reference_counts.c explains why the lab
// observes them.

#include "Model/happens_before.h"
#include "Model/locks.h"
#include "Model/misuse.h"
#include "Platform/stack.h"
#include "Primitives/actor.h"
#include "Primitives/families.h"
#include "Primitives/next_symbol.h"
#include "Primitives/plain_memory.h"
#include "Primitives/points.h"
#include "Scheduler/outside.h"
#include "Search/reference_counts.h"
#include "State/blocks.h"
#include "State/shadow.h"

#ifndef RL_WITHOUT_HOOKS

typedef void *(*on_object)(void *object);

// MARK: - Retain and release

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

// The runtime calls these through pointers while a flag is set, even from inside its own library.

typedef void *(*on_object_n)(void *object, uint32_t n);
typedef void (*release_n)(void *object, uint32_t n);

static struct {
    bool is_known;
    uint8_t *enabled;
    on_object real_retain, real_try_retain;
    on_object_n real_retain_n;
    release_n real_release_n;
    bool (*is_ending)(const void *object);
} runtime;

#define HIDDEN __attribute__((visibility("hidden"), used))

// Some values are not objects and must not be retained, such as string literals: they are negative.
// The runtime of Swift 6.2 passes them as they are. That of Swift 6.3 clears the bits that mark
// them before it calls through the pointer. Then the original argument is still in the first
// register that a called function preserves, and equals the argument but for those bits. (With
// Swift 6.2 that register belongs to the caller, which may keep such bits of its own there.)
HIDDEN bool rl_arguments_are_whole;
HIDDEN _Atomic int rl_immortals;
extern void rl_retain_if_mortal(void) __attribute__((visibility("hidden")));
// clang-format off
__asm__(
    ".text\n"
    ".p2align 4\n"
    ".hidden rl_retain_if_mortal\n"
    ".globl rl_retain_if_mortal\n"
    ".type rl_retain_if_mortal, %function\n"
    "rl_retain_if_mortal:\n"
#if defined(__x86_64__)
    "    movq %rdi, %rax\n"
    "    testq %rdi, %rdi\n"
    "    je 2f\n"
    "    js 3f\n"
    "    cmpb $0, rl_arguments_are_whole(%rip)\n"
    "    jne rl_retain\n"
    "    testq %rbx, %rbx\n"
    "    jg 1f\n"
    "    xorq %rbx, %rax\n"
    "    shlq $8, %rax\n"
    "    shrq $11, %rax\n"
    "    movq %rbx, %rax\n"
    "    je 2f\n"
    "1:  cmpq $4096, %rdi\n"
    "    jae rl_retain\n"
    "    movq %rbx, %rax\n"
    "    ret\n"
    "3:  movb $1, rl_arguments_are_whole(%rip)\n"
    "2:  lock incl rl_immortals(%rip)\n"
    "    ret\n"
#else
    "    cbz x0, 2f\n"
    "    adrp x16, rl_arguments_are_whole\n"
    "    tbnz x0, #63, 7f\n"
    "    ldrb w17, [x16, :lo12:rl_arguments_are_whole]\n"
    "    cbnz w17, 6f\n"
    "    cmp x19, #0\n"
    "    b.gt 1f\n"
    "    eor x16, x19, x0\n"
    "    ubfx x16, x16, #3, #53\n"
    "    cbz x16, 3f\n"
    "1:  cmp x0, #4096\n"
    "    b.lo 5f\n"
    "6:  b rl_retain\n"
    "5:  mov x0, x19\n"
    "    ret\n"
    "7:  mov w17, #1\n"
    "    strb w17, [x16, :lo12:rl_arguments_are_whole]\n"
    "    b 2f\n"
    "3:  mov x0, x19\n"
    "2:  adrp x16, rl_immortals\n"
    "    add x16, x16, :lo12:rl_immortals\n"
    "4:  ldaxr w17, [x16]\n"
    "    add w17, w17, #1\n"
    "    stlxr w15, w17, [x16]\n"
    "    cbnz w15, 4b\n"
    "    ret\n"
#endif
    ".size rl_retain_if_mortal, . - rl_retain_if_mortal\n");
// clang-format on

/// Whether the values that must not be retained are recognized in this runtime.
static bool finds_immortals(void) {
    on_object swift_retain = (on_object)dlsym(RTLD_DEFAULT, "swift_retain");
    const int before = atomic_load(&rl_immortals);
    swift_retain((void *)0x8000000000000008ull);
    return atomic_load(&rl_immortals) > before;
}

/// Whether the object was freed in this run, or its `deinit` runs, which it would begin once more.
static bool has_ended(const void *object, int64_t references, uint32_t n) {
    if (me->fate != STAYS) return false;
    const object_record *o = rl_known_object(object);
    return (o && o->is_freed) || (runtime.is_ending(object) && references <= n);
}

static const rl_operation let_go = {.kind = RL_LET_GO};

/// Whether the compiler has put an object on the stack, because nothing else refers to it. It has
/// one unowned reference, which keeps it from being freed.
static bool is_on_stack(uintptr_t object) {
    const uintptr_t top = (uintptr_t)__builtin_frame_address(0);
    return (object >= top && object < me->stack_base) || rl_is_in_frame(my_thread(), object);
}

/// Whether there are unowned references to an object, or the program has or had weak ones. If there
/// was a weak one, the counts are kept elsewhere. Otherwise the header contains the number of unowned
/// references, plus one for the object. In an object that lives forever, all bits of that number are
/// set.
static bool can_be_looked_for(const void *object) {
    const uint64_t counts = ((const uint64_t *)object)[1];
    const uint32_t unowned = (uint32_t)counts >> 1;
    if (counts >> 62 != 3)
        return unowned > 1 && unowned < INT32_MAX && !is_on_stack((uintptr_t)object);
    const object_record *o = rl_known_object(object);
    return o && o->has_weak_references;
}

/// Whether the runtime of tasks releases a reference for a task that is running, such as a result
/// for which it has waited. Then there is no frame of the program below it. A task that was suspended
/// may go on elsewhere, and makes no step here.
static bool is_of_task(rl_place place) {
    const thread *t = my_thread();
    return rl_is_of_tasks(place.pc) && t->is_task && rl_current_task() == t->task;
}

/// Finds where the program releases a reference, or a library for it, as that of an array's element.
/// Code that the compiler or the runtime has added has the place of the last step. Returns false if
/// a library releases a reference of its own.
static bool is_of_program(rl_place *place) {
    if (rl_is_call_of_program(place) || rl_is_below_program(place)) {
        *place = rl_place_in_source(*place);
        if (rl_is_compilers_own(place->pc)) place->pc = my_thread()->pc;
        return true;
    }
    if (!is_of_task(*place)) return false;
    place->pc = my_thread()->pc;
    return true;
}

/// A thread uses an object. What initializes that of a generic type is not seen, so an atomic
/// operation that passes the object on with too weak an ordering would not be noticed.
static void use(const void *object, rl_place place) {
    if (!rl_active || me->fate != STAYS || !rl_exploration.scenario->keeps_stores) return;
    const block_of_memory *b = rl_unordered_block((uintptr_t)object);
    if (b && b->is_passed_on && is_of_program(&place))
        rl_doubt("uses an object that an atomic operation has passed on with too weak an ordering",
                 place);
}

HIDDEN void *rl_retain(void *object) {
    use(object, RL_CALLER);
    rl_counts(object, 1, false);
    return runtime.real_retain(object);
}

static void *retain_n(void *object, uint32_t n) {
    use(object, RL_CALLER);
    rl_counts(object, (int)n, false);
    return runtime.real_retain_n(object, n);
}

static void *try_retain(void *object) {
    void *result = runtime.real_try_retain(object);
    rl_counts(result, 1, true);
    return result;
}

/// Whether the thread has done nothing that others can notice since a step that only accesses
/// memory. Unless there is a data race, no thread can tell whether it looks for an object before or
/// after such a step.
static bool is_right_after_access(thread *t) {
    if (t->last_step < 0) return false;
    rl_notice_unlocks(t);
    return (t->kind == RL_READ || t->kind == RL_MODIFY) && t->released_count == 0 &&
           t->last_step + 1 == (int32_t)lab.run.step_count && t->quiet_at == t->accesses;
}

/// The last release of such an object is a step of its own: another thread may look for the object
/// before it, and may also retain it.
static void come_to_last_release(const void *object, uint32_t n, rl_place place) {
    if (my_thread()->is_ending || !can_be_looked_for(object)) return;
    if (is_right_after_access(my_thread())) return;
    if (rl_references_to(object) > n || !is_of_program(&place)) return;
    rl_finds_last_reference(object, n);
    rl_point(&let_go, object, place);
}

/// Returns whether it can be released.
static bool will_release(const void *object, uint32_t n, rl_place place) {
    if (me->fate == STAYS) {
        come_to_last_release(object, n, place);
        my_thread()->quiet_at = UINT32_MAX;
    }
    const int64_t references = rl_references_to(object);
    if (has_ended(object, references, n)) {
        rl_frees_again(object, place);
        rl_looks_at_object(object);  // so that each thread may be the one that is too late
        rl_clean_stack();
        return false;
    }
    rl_counts(object, -(int)n, false);
    if (references > n) rl_removes_reference(object);
    rl_clean_top_of_stack();
    return true;
}

static void release_references(void *object, uint32_t n, rl_place place) {
    if (!rl_active || (intptr_t)object <= 0) return runtime.real_release_n(object, n);
    use(object, place);
    if (!will_release(object, n, place)) return;
    rl_release_in_progress this;
    rl_begin_release(&this, object);
    runtime.real_release_n(object, n);
    rl_end_release(&this);
}

static void release_one(void *object) { release_references(object, 1, RL_CALLER); }

static void release_several(void *object, uint32_t n) { release_references(object, n, RL_CALLER); }

static void *exchange_function(const char *symbol, void *replacement) {
    void **pointer = dlsym(RTLD_DEFAULT, symbol);
    void *before = *pointer;
    *pointer = replacement;
    return before;
}

static void find_runtime(void) {
    static const char *const symbols[] = {"_swift_retain", "_swift_retain_n", "_swift_tryRetain",
                                          "_swift_release", "_swift_release_n"};
    runtime.is_known = true;
    uint8_t *enabled =
        dlsym(RTLD_DEFAULT,
              "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly");
    for (int i = 0; i < 5; i++)
        if (!dlsym(RTLD_DEFAULT, symbols[i])) return;
    runtime.is_ending = (bool (*)(const void *))dlsym(RTLD_DEFAULT, "swift_isDeallocating");
    if (!enabled || !runtime.is_ending) return;
    runtime.real_retain = (on_object)exchange_function(symbols[0], (void *)rl_retain_if_mortal);
    runtime.real_retain_n = (on_object_n)exchange_function(symbols[1], (void *)retain_n);
    runtime.real_try_retain = (on_object)exchange_function(symbols[2], (void *)try_retain);
    exchange_function(symbols[3], (void *)release_one);
    runtime.real_release_n = (release_n)exchange_function(symbols[4], (void *)release_several);
    __atomic_store_n(enabled, true, __ATOMIC_SEQ_CST);
    if (finds_immortals())
        runtime.enabled = enabled;
    else
        __atomic_store_n(enabled, false, __ATOMIC_SEQ_CST);
}

static bool is_distrusted;
void rl_distrust_counts(bool does) { is_distrusted = does; }

static bool listen_to_counts(bool on) {
    if (!runtime.is_known) find_runtime();
    if (is_distrusted) return false;
    if (rl_unobserved_families >> RL_COUNTS & 1) on = false;
    if (runtime.enabled) __atomic_store_n(runtime.enabled, on, __ATOMIC_SEQ_CST);
    return runtime.enabled != NULL;
}

#else

void rl_distrust_counts(bool does) { (void)does; }

static bool listen_to_counts(bool on) {
    (void)on;
    return false;
}

#endif

// Counts are observed only during the run: elsewhere that would take time for nothing. They are
// observed without reduction, too, because releases also order what threads do.

static void begin(void) { lab.run.listens_to_counts = listen_to_counts(true); }

static void end(bool is_complete) {
    (void)is_complete;
    listen_to_counts(false);
}

RL_SERVICE(.threads_begin = begin, .threads_have_ended = end)

/// Also while the scenario is set up.
static bool sees(rl_family family, rl_place place) { return !rl_active || rl_sees(family, place); }

// MARK: - Weak and unowned references

/// A read by the Swift runtime, which orders nothing.
static void load_reference(thread *t) {
    const cell *c = rl_cell_at(t->address);
    rl_join_times(t->clock.at, c->released.at);
    rl_join_times(t->read, c->released.ordered);
}

static const rl_operation load = {.kind = RL_ATOMIC_READ, .carry_out = load_reference};

/// A load is a step: another thread may release the object before it.
static void come_to_load(const void *reference, rl_place place) {
    if (rl_active && rl_is_call_of_program(&place))
        rl_point(&load, reference, rl_place_in_source(place));
}

/// Whether the load of a weak reference is the first one since the thread has begun to access the
/// property: then it belongs to that access.
static bool is_accessed(const void *reference) {
    if (!rl_active) return false;
    thread *t = my_thread();
    const bool is_access = t->started && (t->kind == RL_READ || t->kind == RL_MODIFY);
    if (!is_access || t->address != (uintptr_t)reference || t->loaded_in == t->last_step + 1)
        return false;
    t->loaded_in = t->last_step + 1;
    return true;
}

#define FORMS_WEAK_REFERENCE(name)                      \
    void *name(void *reference, void *object) {         \
        rl_is_changed_by_runtime();                     \
        rl_refers_weakly(reference, object, RL_CALLER); \
        return REAL(name)(reference, object);           \
    }

#define LOADS_WEAK_REFERENCE(name)                                           \
    void *name(void *reference) {                                            \
        if (sees(RL_WEAK_REFERENCES, RL_CALLER)) {                           \
            if (!is_accessed(reference)) come_to_load(reference, RL_CALLER); \
            rl_looks_for(reference);                                         \
        }                                                                    \
        void *object = REAL(name)(reference);                                \
        rl_counts(object, 1, true);                                          \
        return object;                                                       \
    }

#define COPIES_WEAK_REFERENCE(name)         \
    void *name(void *to, void *from) {      \
        rl_is_changed_by_runtime();         \
        rl_copies_weak_reference(to, from); \
        return REAL(name)(to, from);        \
    }

FORMS_WEAK_REFERENCE(swift_weakInit)
FORMS_WEAK_REFERENCE(swift_weakAssign)
LOADS_WEAK_REFERENCE(swift_weakLoadStrong)
LOADS_WEAK_REFERENCE(swift_weakTakeStrong)
COPIES_WEAK_REFERENCE(swift_weakCopyInit)
COPIES_WEAK_REFERENCE(swift_weakCopyAssign)
COPIES_WEAK_REFERENCE(swift_weakTakeInit)
COPIES_WEAK_REFERENCE(swift_weakTakeAssign)

void *swift_unownedRetainStrong(void *object) {
    if (sees(RL_WEAK_REFERENCES, RL_CALLER)) {
        come_to_load(object, RL_CALLER);
        rl_looks_at_object(object);
    }
    rl_counts(object, 1, false);
    return REAL(swift_unownedRetainStrong)(object);
}

// MARK: - Uniqueness

/// Defines a function of the library that asks whether the reference in a variable is the only one.
#define ASKS_FOR_UNIQUENESS(name, symbol, variable, parameters, arguments)     \
    NAMED(symbol, SWIFT_FUNCTION bool rl_##name parameters) {                  \
        if (sees(RL_UNIQUENESS, RL_CALLER)) rl_asks_for_uniqueness(*variable); \
        const bool is_unique = REAL_AT(rl_##name, symbol) arguments;           \
        if (rl_active && is_unique) rl_has_last_reference(*variable);          \
        return is_unique;                                                      \
    }

ASKS_FOR_UNIQUENESS(is_unique, "$ss25isKnownUniquelyReferencedySbxzRlzClF", object,
                    (void **object, const void *type), (object, type))
ASKS_FOR_UNIQUENESS(is_unique_optional, "$ss25isKnownUniquelyReferencedySbxSgzRlzClF", object,
                    (void **object, const void *type), (object, type))
ASKS_FOR_UNIQUENESS(is_unique_buffer, "$ss20ManagedBufferPointerV17isUniqueReferenceSbyF", buffer,
                    (const void *type, SWIFT_SELF void **buffer), (type, buffer))

#endif
