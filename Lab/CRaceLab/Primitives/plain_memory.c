// Accesses to properties, captured variables and globals.
//
// Debug code announces each access to memory that several threads can reach.
//
// Code compiled with `-sanitize=thread` calls a function before each instruction that reads or
// writes memory. For most of them `swift_beginAccess` has already made a step, and the lab does
// nothing. Two kinds remain:
//
// - A variable that only closures which do not escape capture is on the stack (that of a task is on
//   the heap), or belongs to an access that its function has begun. The compiler checks exclusive
//   access there by itself. If such a closure runs on another thread, as with `concurrentPerform`,
//   its accesses are steps.
// - An access can last: a `mutating` method, or a function with an `inout` parameter, can release a
//   lock and then write. What it writes then does not come before that release. It is no step of
//   its own, but it is checked for data races with the knowledge of that moment.

#include "Primitives/plain_memory.h"

#include "Primitives/families.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/locks.h"
#include "Platform/memory.h"
#include "Platform/program_heap.h"
#include "Platform/stack.h"
#include "Primitives/next_symbol.h"
#include "Primitives/points.h"
#include "Scheduler/observe.h"
#include "Scheduler/outside.h"
#include "Search/waking.h"
#include "State/blocks.h"

#include <string.h>

static void check_access(thread *t) {
    rl_check_access((plain_access){t->kind, t->address, t->pc, lab.run.step_count - 1});
}

const rl_operation rl_read = {.kind = RL_READ, .carry_out = check_access};
const rl_operation rl_modify = {.kind = RL_MODIFY, .carry_out = check_access};

// Of accesses that may begin at different addresses, all to one block are dependent. Whether two of
// them conflict is checked afterwards.
static const rl_operation read_part = {.kind = RL_READ}, modify_part = {.kind = RL_MODIFY};

static void access_part(thread *t, rl_kind kind, extent memory, rl_place place) {
    const uintptr_t block = rl_extent_with(memory.start).start;
    rl_point(kind == RL_READ ? &read_part : &modify_part, block ? (const void *)block : &lab,
             place);
    rl_check_memory((plain_access){.kind = (uint8_t)kind,
                                   .address = memory.start,
                                   .pc = place.pc,
                                   .step = (uint32_t)t->last_step},
                    memory.size);
}

// MARK: - Accesses that last

static void begin_lasting_access(const void *address, const void *buffer, bool modifies,
                                 uintptr_t pc) {
    thread *t = my_thread();
    MAKE_ROOM(t->open, t->open_count, t->open_capacity, 8);
    t->open[t->open_count++] = (open_access){
        buffer,  (uintptr_t)address, t->clock.at[me->thread], t->pc, pc, t->last_step, modifies,
        modifies};
    rl_clean_stack();
}

static void end_lasting_access(const void *buffer, uintptr_t pc) {
    if (!rl_on_lab_thread()) return;
    thread *t = my_thread();
    for (size_t i = t->open_count; i > 0; i--) {
        if (t->open[i - 1].buffer != buffer) continue;
        const open_access ended = t->open[i - 1];
        t->open_count--;
        memmove(&t->open[i - 1], &t->open[i], (t->open_count - (i - 1)) * sizeof *t->open);
        if (ended.may_be_by_pointer && rl_is_sanitized(ended.pc) &&
            !rl_copies_between(ended.begun_at, pc))
            rl_passed_by_pointer(ended.pc);
        rl_did_within(t, &ended, ended.modifies);
        return;
    }
}

static bool are_in_one_block(uintptr_t first, uintptr_t second) {
    const extent b = rl_extent_with(first);
    return second - b.start < b.size;
}

/// Whether two addresses are close to each other in static data. Globals have no blocks.
static bool are_in_globals(uintptr_t first, uintptr_t second) {
    const uintptr_t close = 1024;
    return second - first < close && rl_is_global(first);
}

/// Returns the access of a thread that the address belongs to, or NULL. Only the beginning of the
/// memory that is accessed is known, so it is the access that begins nearest in the same block.
static open_access *open_access_at(const thread *t, uintptr_t address, bool in_globals) {
    open_access *nearest = NULL;
    for (size_t i = 0; i < t->open_count; i++) {
        open_access *o = &t->open[i];
        if (o->address > address || (nearest && nearest->address > o->address)) continue;
        const bool is_near = o->address == address || are_in_one_block(o->address, address) ||
                             (in_globals && are_in_globals(o->address, address));
        if (is_near) nearest = o;
    }
    return nearest;
}

/// Whether the address belongs to the value of a `Mutex` that the thread holds, rather than to `o`.
static bool is_in_held_mutex(const thread *t, const open_access *o, uintptr_t address) {
    for (size_t i = 0; i < t->held_count; i++) {
        const uintptr_t lock = (uintptr_t)t->held[i].lock;
        if (t->held[i].silent && lock >= o->address && lock < address) return true;
    }
    return false;
}

/// Returns the access that the thread itself has begun to memory which it accesses now, or NULL.
/// What is read next to a global may be a constant.
static open_access *own_access(const thread *t, rl_kind kind, uintptr_t address) {
    open_access *o = open_access_at(t, address, kind == RL_MODIFY);
    return o && !is_in_held_mutex(t, o, address) ? o : NULL;
}

/// Whether the thread may have let others go on during an access that it has begun.
static bool has_lasting_access(thread *t) {
    if (t->open_count > 0 && t->locks_held) rl_notice_unlocks(t);
    for (size_t i = 0; i < t->open_count; i++)
        if (t->open[i].since != t->clock.at[me->thread]) return true;
    return false;
}

/// The thread accesses the memory again.
static void access_later(thread *t, open_access *o, rl_kind kind, rl_place place) {
    if (t->clock.at[me->thread] == o->since) return;
    rl_check_access((plain_access){(uint8_t)kind, o->address, rl_place_in_source(place).pc,
                                   (uint32_t)t->last_step});
}

// MARK: - Memory of other threads

int rl_owner_of_stack(uintptr_t address) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        const worker *w = lab.run.threads[i].on;
        if (lab.run.threads[i].finished || i == me->thread) continue;
        if (rl_is_in_frame(&lab.run.threads[i], address)) return i;
        if (!w || w == me || w->thread != i) continue;
        if (address >= w->stack_end && address < w->stack_base) return i;
    }
    return NO_THREAD;
}

void rl_note_change(uintptr_t address, uintptr_t pc) {
    if (!lab.run.is_first || rl_is_data_of_runtime(address)) return;
    // What the set-up changes, perhaps a counter, is less likely to make a difference.
    if (rl_exploration.summary.older_change && !rl_exploration.summary.is_change_of_set_up) return;
    const bool is_own_stack =
        address >= (uintptr_t)__builtin_frame_address(0) && address < me->stack_base;
    if (is_own_stack || rl_owner_of_stack(address) != NO_THREAD || rl_extent_with(address).size > 0)
        return;
    if (rl_is_compilers_own(pc) || rl_is_in_lab(pc)) return;
    rl_exploration.summary.older_change = pc;
    rl_exploration.summary.is_change_of_set_up = lab.run.is_setting_up;
}

static bool have_others_begun(void) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (i != me->thread && lab.run.threads[i].open_count > 0) return true;
    return false;
}

/// Whether the memory belongs to an access that another thread has begun, rather than to `own`.
/// Next to globals there are also variables of the compiler.
static bool is_open_elsewhere(uintptr_t address, const open_access *own, rl_place place) {
    const bool in_globals = !rl_is_compilers_own(place.pc);
    for (int i = 0; i < lab.run.thread_count; i++) {
        if (i == me->thread) continue;
        const open_access *o = open_access_at(&lab.run.threads[i], address, in_globals);
        if (o && (!own || o->address > own->address)) return true;
    }
    return false;
}

static bool is_on_other_stack(uintptr_t address) {
    const int owner = rl_owner_of_stack(address);
    if (owner != NO_THREAD) rl_is_on_stack_of(owner, address);
    return owner != NO_THREAD;
}

/// `x += 1` announces that it modifies `x`, reads it, and writes it. That is one access.
static bool is_announced(thread *t, rl_kind kind, uintptr_t address) {
    const bool is_same = t->announced == address && t->announced_after == t->accesses;
    if (!is_same || (kind == RL_READ && t->has_read)) return false;
    t->has_read = true;
    if (kind == RL_MODIFY) t->announced = 0;
    return true;
}

static void announce(thread *t, uintptr_t address) {
    t->announced = address;
    t->announced_after = t->accesses;
    t->has_read = false;
}

/// `own`: the access that it belongs to, or NULL.
static void make_step(thread *t, open_access *own, rl_kind kind, extent memory,
                      bool is_announcement, rl_place place) {
    const uintptr_t address = memory.start;
    if (!is_announcement && is_announced(t, kind, address)) return;
    if (own)
        access_later(t, own, kind, place);
    else if (rl_is_partial(place.pc))
        access_part(t, kind, memory, rl_place_in_source(place));
    else
        rl_point(kind == RL_READ ? &rl_read : &rl_modify, (const void *)address,
                 rl_place_in_source(place));
    if (is_announcement) announce(t, address);
}

/// Swift code touches the variable of the innermost access itself.
static void touch(thread *t) {
    if (t->open_count > 0) t->open[t->open_count - 1].may_be_by_pointer = false;
}

void rl_is_changed_by_runtime(void) {
    if (rl_active && rl_on_lab_thread()) touch(my_thread());
}

static void look_at_access(rl_kind kind, extent memory, bool is_announcement, rl_place place) {
    thread *t = my_thread();
    const uintptr_t address = memory.start;
    if (rl_is_known_unannounced(t, address, place.pc)) {
        make_step(t, NULL, kind, memory, is_announcement, place);
        return rl_meet_unannounced(kind, memory, true, place);
    }
    const bool others_have_begun = have_others_begun();
    open_access *own =
        has_lasting_access(t) || others_have_begun ? own_access(t, kind, address) : NULL;
    const bool is_open = others_have_begun && is_open_elsewhere(address, own, place);
    if (!is_open && !own && !is_on_other_stack(address))
        return rl_meet_unannounced(kind, memory, false, place);
    if (rl_block_with(t, address)) return;
    make_step(t, is_open ? NULL : own, kind, memory, is_announcement, place);
}

/// Returns whether the lab has looked at the access. Not inlined: what it leaves on the stack is
/// cleaned, unlike the frame of its caller.
static __attribute__((noinline)) bool meet_access(rl_kind kind, extent memory, bool is_announcement,
                                                  rl_place place) {
    const uintptr_t address = memory.start;
    const bool is_own_stack =
        address >= (uintptr_t)__builtin_frame_address(0) && address < me->stack_base;
    if (is_own_stack || !rl_on_lab_thread() || me->fate != STAYS) return false;
    thread *t = my_thread();
    touch(t);
    if (rl_is_in_frame(t, address) || rl_is_data_of_runtime(address)) return false;
    if (kind == RL_MODIFY) rl_note_change(address, place.pc);
    look_at_access(kind, memory, is_announcement, place);
    return true;
}

static inline void access_memory(rl_kind kind, extent memory, bool is_announcement,
                                 rl_place place) {
    if (meet_access(kind, memory, is_announcement, place)) rl_clean_stack();
}

void rl_accesses_memory(rl_kind kind, uintptr_t address, rl_place place) {
    access_memory(kind, (extent){address, 0}, false, place);
}

// MARK: - Entry points: exclusive access

/// If the thread is inside of code that makes no calls for atomics, such as a lock in another
/// target, the lab does not see what may order the accesses.
static void doubt_race(rl_place place) {
    const rl_place unseen = rl_place_of_unseen_lock(place);
    if (unseen.pc) rl_meet_outside(RL_LOCK_WITHOUT_CALLS, rl_place_in_source(unseen));
}

static _Thread_local uint64_t heard;
uint64_t rl_heard(void) { return heard; }

/// In `flags`: the access may last, and `swift_endAccess` ends it.
enum { IS_TRACKED = 0x20 };

/// Debug code calls this before every access to memory that several threads can reach. Bit 0 of
/// `flags` is 0 for a read and 1 for a modification.
void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *pc) {
    rl_place place = RL_CALLER;
    if (!rl_active) {
        heard++;
        if (rl_is_observing) rl_touch(address);
        if (flags & 1 && rl_is_between_runs_here() && lab.run.is_setting_up)
            rl_note_change((uintptr_t)address, place.pc);
    } else if (rl_is_under_test(place.pc) && rl_sees(RL_ACCESSES, place) &&
               !rl_only_passes_lock(address, place)) {
        const bool modifies = flags & 1;
        if (modifies) rl_note_change((uintptr_t)address, place.pc);
        const size_t races = lab.run.race_count;
        rl_point(modifies ? &rl_modify : &rl_read, address, rl_place_in_source(place));
        if (lab.run.race_count > races) doubt_race(place);
        rl_meet_announced(modifies ? RL_MODIFY : RL_READ, (uintptr_t)address, place);
        rl_clean_stack();
        if (flags & IS_TRACKED && rl_sees(RL_LASTING_ACCESSES, place))
            begin_lasting_access(address, buffer, modifies, place.pc);
    }
    REAL(swift_beginAccess)(address, buffer, flags, pc);
}

/// Debug code calls this at the end of an access that is tracked.
void swift_endAccess(void *buffer) {
    if (rl_active) end_lasting_access(buffer, RL_CALLER.pc);
    REAL(swift_endAccess)(buffer);
}

/// Ignores the initializer. It runs once per process, not once per run, so the first run would
/// otherwise differ from all others.
void swift_once(void *predicate, void (*function)(void *), void *context) {
    rl_ignore();
    REAL(swift_once)(predicate, function, context);
    rl_attend();
}

// MARK: - Entry points: instructions

static extent range(const void *start, size_t size) { return (extent){(uintptr_t)start, size}; }

#define ACCESS(name, size, kind)                                                    \
    void name##size(void *address) {                                                \
        if (rl_active) access_memory(kind, range(address, size), false, RL_CALLER); \
    }
#define UNALIGNED_SIZES(name, kind) \
    ACCESS(name, 2, kind) ACCESS(name, 4, kind) ACCESS(name, 8, kind) ACCESS(name, 16, kind)
#define SIZES(name, kind) ACCESS(name, 1, kind) UNALIGNED_SIZES(name, kind)

SIZES(__tsan_read, RL_READ)
SIZES(__tsan_write, RL_MODIFY)
SIZES(__tsan_read_write, RL_MODIFY)
UNALIGNED_SIZES(__tsan_unaligned_read, RL_READ)
UNALIGNED_SIZES(__tsan_unaligned_write, RL_MODIFY)
UNALIGNED_SIZES(__tsan_unaligned_read_write, RL_MODIFY)

#if defined(__linux__)

/// The value witnesses of each class that is written in Swift. They stand before its metadata.
extern __attribute__((weak)) const char witnesses_of_objects __asm__("$sBoWV");

/// Whether an object begins at an address, rather than a variable. Its first word is its class. So is
/// that of a variable which contains a class; but few have the alignment of an object.
static bool begins_object(const void *address) {
    if ((uintptr_t)address % 16 != 0 || !&witnesses_of_objects) return false;
    const uintptr_t *class = *(const uintptr_t *const *)address;
    if (!class || (uintptr_t) class % sizeof *class != 0) return false;
    static const uintptr_t *known[64];  // to ask the system once about a class
    const uintptr_t **at = &known[(uintptr_t) class / 16 % (sizeof known / sizeof *known)];
    if (*at == class) return true;
    const bool is = rl_is_readable(class - 1) && class[-1] == (uintptr_t)&witnesses_of_objects;
    if (is) *at = class;
    return is;
}

#else

static bool begins_object(const void *address) {
    (void)address;
    return false;
}

#endif

/// The compiler announces that a variable is passed as `inout`. If that is a property, it also
/// announces the object, of which only the property is modified.
void __tsan_external_write(void *address, void *caller, void *tag) {
    (void)caller, (void)tag;
    if (!rl_active || begins_object(address)) return;
    access_memory(RL_MODIFY, range(address, 0), true, RL_CALLER);
}

static void copy_memory(void *to, const void *from, size_t size, rl_place place) {
    if (size == 0) return;
    access_memory(RL_READ, range(from, size), false, place);
    access_memory(RL_MODIFY, range(to, size), false, place);
}

void *__tsan_memcpy(void *to, const void *from, size_t size) {
    if (rl_active) copy_memory(to, from, size, RL_CALLER);
    return memcpy(to, from, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size) {
    if (rl_active) copy_memory(to, from, size, RL_CALLER);
    return memmove(to, from, size);
}

void *__tsan_memset(void *to, int value, size_t size) {
    if (rl_active && size > 0) access_memory(RL_MODIFY, range(to, size), false, RL_CALLER);
    return memset(to, value, size);
}

// MARK: - Functions

static void meet_function(rl_place place) {
    rl_note_sanitized(place.pc);
    place.pc = rl_unseen_atomic(place.pc);
    if (place.pc) rl_meet_outside("uses `min` or `max` of an atomic variable", place);
}

/// Code compiled with `-sanitize=thread` calls this at the beginning of each function.
void __tsan_func_entry(void *caller) {
    (void)caller;
    if (!rl_active) return;
    rl_place place = RL_CALLER;
    if (rl_is_known_entry(place.pc)) return rl_clean_top_of_stack();
    meet_function(place);
    rl_clean_stack();
}

// MARK: - Entry points that the lab ignores

void __tsan_read_range(void *a, size_t b) { (void)a, (void)b; }
void __tsan_write_range(void *a, size_t b) { (void)a, (void)b; }
void __tsan_external_read(void *a, void *b, void *c) { (void)a, (void)b, (void)c; }
void __tsan_vptr_read(void *a) { (void)a; }
void __tsan_vptr_update(void **a, void *b) { (void)a, (void)b; }
void __tsan_func_exit(void) {}
void __tsan_ignore_thread_begin(void) {}
void __tsan_ignore_thread_end(void) {}
void __tsan_init(void) {}

#endif
