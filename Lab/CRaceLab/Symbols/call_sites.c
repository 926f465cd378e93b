#include "Symbols/call_sites.h"

#include "Platform/memory.h"
#include "State/shadow.h"
#include "Symbols/functions.h"
#include "Symbols/source_lines.h"

#include <string.h>
#include <unwind.h>

// MARK: - A cache of call sites

typedef struct {
    uint8_t origin, source;
    uint8_t answers[RL_QUESTION_COUNT];
    bool atomics_are_known;
    uint8_t copying;  // see `rl_copies_between`
    uint8_t marks;    // rl_mark
    // At the start of a function; at its call of `__tsan_func_entry`.
    bool is_sanitized, is_entry_of_sanitized;
    uintptr_t statement;  // the address of the statement of a call without a line; 0: unknown
    uintptr_t function;   // its start; 0: unknown
} call_site;

static rl_table call_sites;

/// The entry of a call site. Controlled threads, one of which runs at a time, share the table. A
/// thread that was given up runs beside them, so it ends here.
static call_site *call_site_of(uintptr_t pc) {
    if (me && me->fate == IS_LOST) rl_give_up();
    bool is_new;
    return rl_record_at(&call_sites, pc, sizeof(call_site), rl_allocate, &is_new);
}

bool rl_answer(rl_question question, uintptr_t pc, bool (*find)(uintptr_t pc)) {
    enum { NOT_KNOWN, NO, YES };
    uint8_t *answer = &call_site_of(pc)->answers[question];
    if (*answer != NOT_KNOWN) return *answer == YES;
    rl_ignore();
    *answer = find(pc) ? YES : NO;
    rl_attend();
    return *answer == YES;
}

// MARK: - The program and the toolchain

/// Whether an address lies in the code of the program itself.
static bool is_in_program(uintptr_t pc) {
#if defined(__linux__)
    extern const char __executable_start, etext;
    return pc - (uintptr_t)&__executable_start < (uintptr_t)(&etext - &__executable_start);
#else
    (void)pc;
    return false;
#endif
}

static origin origin_of(uintptr_t pc) {
    if (is_in_program(pc)) return OF_PROGRAM;
    call_site *site = call_site_of(pc);
    if (site->origin == UNKNOWN) {
        rl_ignore();
        site->origin = (uint8_t)rl_find_origin(pc);
        rl_attend();
    }
    return (origin)site->origin;
}

bool rl_is_under_test(uintptr_t pc) { return origin_of(pc) == OF_PROGRAM; }

// MARK: - Code without lines

static rl_source source_of(uintptr_t pc) {
    call_site *site = call_site_of(pc);
    if (site->source != SOURCE_UNKNOWN) return (rl_source)site->source;
    rl_ignore();
    rl_source source = rl_find_source(pc);
    rl_attend();
    site->source = (uint8_t)source;
    return source;
}

bool rl_is_labs_own(uintptr_t pc) {
#if defined(__linux__)
    extern const char __start_rl_text[], __stop_rl_text[];
    return pc > (uintptr_t)__start_rl_text && pc <= (uintptr_t)__stop_rl_text;
#else
    (void)pc;
    return false;
#endif
}

/// Returns the address of the statement that a call of an accessor belongs to.
static uintptr_t statement_of_call(uintptr_t pc, uintptr_t callee) {
    call_site *site = call_site_of(pc);
    if (site->statement) return site->statement;
    rl_ignore();
    const uintptr_t statement = rl_statement_of_call(pc, callee);
    rl_attend();
    return site->statement = statement;
}

// MARK: - Stack walks

/// A stack walk from a library function, or from code without lines, to the code under test.
typedef struct {
    rl_place found;
    bool is_beyond_entry_point, is_for_program, is_over, is_found;
    uintptr_t from;
    uintptr_t callee;         // the function visited before that of `found`
    uintptr_t frame_pointer;  // of the function visited last
} climb;

#if defined(__x86_64__)
#define FRAME_POINTER 6
#define CODE_ADDRESS(word) (word)
#elif defined(__aarch64__)
#define FRAME_POINTER 29
// A return address may be signed in the bits that addresses do not use.
#define CODE_ADDRESS(word) ((word)&0x0000FFFFFFFFFFFF)
#else
#error "tell here which register is the frame pointer, by its number in DWARF"
#endif

/// Visits a function on the stack. Returns whether to visit its caller.
static bool climb_to(climb *c, rl_place place) {
    if (me->thread >= 0 && place.stack >= me->body) return false;
    origin from = origin_of(place.pc);
    if (from == OF_PROGRAM) {
        if (rl_is_labs_own(place.pc)) {
            c->callee = place.pc;
            return true;
        }
        // Code that the compiler generates, such as an accessor, a thunk or a copy of a Foundation
        // function, has no lines. Show its caller instead, if there is one.
        c->is_over = source_of(place.pc) != OF_COMPILER;
        if (c->is_over || !c->is_found) c->found = place;
        c->is_found = true;
        if (!c->is_over) c->callee = place.pc;
        return !c->is_over;
    }
    c->callee = place.pc;
    if (c->is_found) return true;
    c->is_for_program |= from == FOR_PROGRAM;
    // A function without a symbol counts only if the program called it directly.
    c->is_over = !c->is_for_program && place.pc != c->from;
    return !c->is_over;
}

static _Unwind_Reason_Code climb_frame(struct _Unwind_Context *frame, void *argument) {
    climb *c = argument;
    rl_place place = {_Unwind_GetIP(frame), _Unwind_GetCFA(frame)};
    // Skip the lab's own functions, which come first.
    c->is_beyond_entry_point |= place.pc == c->from;
    if (!c->is_beyond_entry_point) return _URC_NO_REASON;
    c->frame_pointer = _Unwind_GetGR(frame, FRAME_POINTER);
    return climb_to(c, place) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/// Whether the instruction before this one is a call.
static bool follows_a_call(uintptr_t pc) {
#if defined(__x86_64__)
    const uint8_t *end = (const uint8_t *)pc;
    if (end[-5] == 0xE8) return true;
    for (int size = 2; size <= 7; size++)
        if (size != 5 && end[-size] == 0xFF && (end[1 - size] >> 3 & 7) == 2) return true;
    return false;
#else
    const uint32_t call = ((const uint32_t *)pc)[-1];
    const bool is_direct = call >> 26 == 0x25, is_indirect = (call & 0xFEFFF000) == 0xD63F0000;
    return is_direct || is_indirect;
#endif
}

/// Optimized code has no frame pointers, and uses the register for other values. One of them may be
/// an address in the stack, with anything above it.
static bool is_return_address(uintptr_t pc) {
    if (!pc) return false;
    const bool is_code =
        is_in_program(pc) || rl_known_record(&call_sites, pc) || rl_is_global(pc - 1);
    return is_code && follows_a_call(pc);
}

/// Returns a frame of the stack, or NULL if there is none at this address.
static const uintptr_t *frame_at(uintptr_t address, uintptr_t below) {
    const bool is_in_stack = address > below && address % sizeof(void *) == 0 &&
                             address < me->stack_base - 2 * sizeof(void *);
    if (!is_in_stack) return NULL;
    const uintptr_t *frame = (const uintptr_t *)address;
    return is_return_address(CODE_ADDRESS(frame[1])) ? frame : NULL;
}

/// Returns the frame of the caller, or NULL if there is none.
static const uintptr_t *next_frame(const uintptr_t *frame) {
    // Swift marks the frames of asynchronous functions with this bit.
    return frame_at(frame[0] & ~((uintptr_t)1 << 60), (uintptr_t)frame);
}

static rl_place place_above(const uintptr_t *frame) {
    return (rl_place){CODE_ADDRESS(frame[1]), (uintptr_t)(frame + 2)};
}

/// Some library functions have no unwind tables, but keep frame pointers; others have no frame
/// pointers, but unwind tables.
static void climb_by_frame_pointers(climb *c) {
    const uintptr_t *frame = frame_at(c->frame_pointer, (uintptr_t)__builtin_frame_address(0));
    while (frame && climb_to(c, place_above(frame))) frame = next_frame(frame);
}

/// Functions with neither save at most a few registers. The return address lies above these. The
/// frame pointer is still that of the program, unless the program is optimized and uses the
/// register for something else.
static void climb_by_return_address(climb *c, const uintptr_t *word) {
    const int most_saved = 4;
    const bool has_frame_pointer =
        c->frame_pointer > (uintptr_t)word && c->frame_pointer < me->stack_base;
    const uintptr_t end = has_frame_pointer ? c->frame_pointer : me->stack_base;
    for (int k = 0; k < most_saved && (uintptr_t)word < end; k++, word++) {
        const uintptr_t pc = CODE_ADDRESS(*word);
        if (!is_return_address(pc) || origin_of(pc) != OF_PROGRAM) continue;
        climb_to(c, (rl_place){pc, (uintptr_t)(word + 1)});
        return;
    }
}

/// `stack`: above what the function from which the walk begins has called.
static void climb_up(climb *c, uintptr_t stack) {
    rl_ignore();
    _Unwind_Backtrace(climb_frame, c);
    const bool is_still_below = !c->is_found && !c->is_over && c->callee == c->from;
    if (is_still_below) climb_by_return_address(c, (const uintptr_t *)stack);
    if (!c->is_over) climb_by_frame_pointers(c);
    rl_attend();
}

static bool finds_caller(climb c, rl_place *place) {
    climb_up(&c, place->stack);
    if (c.is_found) *place = c.found;
    return c.is_found;
}

bool rl_is_call_of_program(rl_place *place) {
    if (rl_is_labs_own(place->pc)) return false;
    origin from = origin_of(place->pc);
    if (from == OF_PROGRAM) return true;
    return from != OF_TOOLCHAIN && finds_caller((climb){.from = place->pc}, place);
}

bool rl_is_below_program(rl_place *place) {
    return finds_caller((climb){.from = place->pc, .is_for_program = true}, place);
}

rl_place rl_place_in_source(rl_place place) {
    if (source_of(place.pc) != OF_COMPILER) return place;
    // Debug code keeps frame pointers, which is faster.
    climb c = {.from = place.pc, .callee = place.pc, .found = place, .is_found = true};
    const uintptr_t *frame = (const uintptr_t *)place.stack - 2;
    bool goes_on = true;
    while (goes_on && (frame = next_frame(frame))) {
        rl_place above = place_above(frame);
        if (origin_of(above.pc) != OF_PROGRAM) break;
        goes_on = climb_to(&c, above);
    }
    // Library code may not.
    if (goes_on) climb_up(&c, place.stack);
    return (rl_place){c.is_over ? statement_of_call(c.found.pc, c.callee) : c.found.pc,
                      place.stack};
}

// MARK: - Libraries between the program and an entry point

/// A stack walk from an entry point to the code under test.
typedef struct {
    uintptr_t from;
    bool is_beyond_entry_point, is_found;
    const char *library;
    rl_place found;
} errand;

static _Unwind_Reason_Code look_behind(struct _Unwind_Context *frame, void *argument) {
    errand *e = argument;
    rl_place place = {_Unwind_GetIP(frame), _Unwind_GetCFA(frame)};
    e->is_beyond_entry_point |= place.pc == e->from;
    if (!e->is_beyond_entry_point || rl_is_labs_own(place.pc)) return _URC_NO_REASON;
    if (rl_is_of_program(place.pc)) {
        // Code that the compiler added has no lines: show its caller instead, if there is one.
        const bool is_first = !e->is_found;
        if (is_first || !rl_is_compilers_own(place.pc)) e->found = place;
        e->is_found = true;
        return is_first && rl_is_compilers_own(place.pc) ? _URC_NO_REASON : _URC_END_OF_STACK;
    }
    if (e->is_found) return _URC_END_OF_STACK;
    const char *name = rl_name_of_library(place.pc);
    if (!e->library && !strstr(name, "ispatch")) e->library = name;
    return _URC_NO_REASON;
}

const char *rl_library_between(rl_place *place) {
    errand e = {.from = place->pc};
    rl_ignore();
    _Unwind_Backtrace(look_behind, &e);
    rl_attend();
    if (e.is_found)
        *place = e.found;
    else if (place->stack)
        rl_is_below_program(place);
    return e.library;
}

rl_place rl_place_of_await(rl_place place) {
    const uintptr_t *frame = (const uintptr_t *)place.stack - 2;
    for (; frame && (uintptr_t)frame < me->body; frame = next_frame(frame)) {
        rl_place above = place_above(frame);
        if (rl_is_under_test(above.pc) && !rl_is_labs_own(above.pc))
            return rl_place_in_source(above);
    }
    return (rl_place){0, place.stack};
}

/// An asynchronous function leaves the stack when it awaits another one. But the awaited function
/// is called by the function that began the job. Its frame holds its context, and that points to
/// the context of its caller.
rl_place rl_place_that_awaits(rl_place place) {
    const uintptr_t *frame = (const uintptr_t *)place.stack - 2;
    while (frame && (frame[0] & ~((uintptr_t)1 << 60)) != me->job_frame) frame = next_frame(frame);
    return (rl_place){frame ? rl_place_in_contexts((const uintptr_t *)frame[-1]) : 0, place.stack};
}

rl_place rl_caller_of(rl_place place) {
    const uintptr_t *frame = next_frame((const uintptr_t *)place.stack - 2);
    return frame && (uintptr_t)frame < me->body ? place_above(frame) : (rl_place){0, 0};
}

const uintptr_t *rl_awaited_context(const uintptr_t *context) {
    const uintptr_t *without_line = NULL;
    for (int depth = 0; context && depth < 64; depth++, context = (const uintptr_t *)context[0]) {
        const uintptr_t pc = context[1];
        if (!pc || !rl_is_under_test(pc) || rl_is_labs_own(pc)) continue;
        if (!rl_is_compilers_own(pc + 1)) return context;
        if (!without_line) without_line = context;
    }
    return without_line;
}

uintptr_t rl_place_in_contexts(const uintptr_t *context) {
    const uintptr_t *awaited = rl_awaited_context(context);
    return awaited ? awaited[1] + 1 : 0;
}

rl_place rl_place_of_making(rl_place place) {
    const uintptr_t *frame = (const uintptr_t *)place.stack - 2;
    while (rl_is_labs_own(place.pc) || source_of(place.pc) == OF_COMPILER ||
           rl_answer(RL_IS_ALLOCATING, place.pc, rl_is_allocating)) {
        if (!(frame = next_frame(frame))) break;
        place = place_above(frame);
    }
    return place;
}

// MARK: - Atomics

uintptr_t rl_unseen_atomic(uintptr_t pc) {
    if (call_site_of(pc)->atomics_are_known) return 0;
    const uintptr_t found = rl_bare_atomic_near(pc);
    call_site_of(pc)->atomics_are_known = found == 0;
    return found;
}

void rl_mark_place(uintptr_t pc, rl_mark mark) { call_site_of(pc)->marks |= mark; }
bool rl_is_marked(uintptr_t pc, rl_mark mark) { return call_site_of(pc)->marks & mark; }

bool rl_is_sanitized(uintptr_t pc) {
    call_site *site = call_site_of(pc);
    if (!site->function && rl_size_of_function(pc, &site->function) == 0) site->function = pc;
    return call_site_of(site->function)->is_sanitized;
}

bool rl_is_known_entry(uintptr_t pc) {
    // Code calls hardly anything more often.
    static uintptr_t known[1024];
    uintptr_t *at = &known[(pc >> 4) % (sizeof known / sizeof *known)];
    if (*at == pc && !(me && me->fate == IS_LOST)) return true;
    const call_site *site = call_site_of(pc);
    const bool is = site->is_entry_of_sanitized && site->atomics_are_known;
    if (is) *at = pc;
    return is;
}

void rl_note_sanitized(uintptr_t pc) {
    uintptr_t start = 0;
    call_site_of(pc)->is_entry_of_sanitized = true;
    if (rl_size_of_function(pc, &start) > 0) call_site_of(start)->is_sanitized = true;
}

static bool has_line_in_lab(uintptr_t pc) {
    uintptr_t start = 0;
    rl_line line = {0};
    const bool is_known = rl_size_of_function(pc, &start) > 0 && rl_find_line(start, &line);
    if (!is_known || !line.folder) return true;
    // A folder of the program may have the same name.
    return strstr(line.folder, "Lab/RaceLab/") && strstr(line.function, "7RaceLab");
}

bool rl_is_in_lab(uintptr_t pc) { return rl_answer(RL_IS_IN_LAB, pc, has_line_in_lab); }

bool rl_is_unseen_lock(rl_place place) {
    if (!rl_is_under_test(place.pc) || rl_is_labs_own(place.pc)) return false;
    return rl_unseen_atomic(place.pc) && !rl_is_sanitized(place.pc) && !rl_is_in_lab(place.pc);
}

rl_place rl_place_of_unseen_lock(rl_place place) {
    rl_ignore();
    const uintptr_t *frame = (const uintptr_t *)place.stack - 2;
    while (!rl_is_unseen_lock(place)) {
        if (!(frame = next_frame(frame)) || (uintptr_t)frame >= me->body) break;
        place = place_above(frame);
    }
    rl_attend();
    return rl_is_unseen_lock(place) ? place : (rl_place){0, 0};
}

bool rl_is_compilers_own(uintptr_t pc) { return source_of(pc) != OF_STATEMENT; }

/// Code caches what it has looked up (type metadata, witness tables), and accesses the caches
/// atomically. These accesses are not in the source code, and would make the first run differ from
/// the others. Code without lines can also be a copy of a function that is otherwise inlined, as in
/// libraries of atomics: what it accesses is not a cache.
bool rl_is_compilers_cache(uintptr_t pc, uintptr_t address) {
#if defined(__linux__)
    static struct {
        uintptr_t address;
        bool is_cache;
    } known[1024];
    const size_t at = (address >> 3) % (sizeof known / sizeof *known);
    if (known[at].address == address) return known[at].is_cache;
    known[at].address = address;
    rl_ignore();
    known[at].is_cache = rl_is_global(address) && rl_is_cache(pc, address);
    rl_attend();
    return known[at].is_cache;
#else
    (void)address;
    return rl_is_compilers_own(pc);
#endif
}

// MARK: - Copies

bool rl_are_in_one_function(uintptr_t pc, uintptr_t other) {
    uintptr_t start = 0;
    const size_t size = rl_size_of_function(pc, &start);
    return size > 0 && other - start <= size;
}

enum { UNKNOWN_YET, COPIES, COPIES_NOTHING };

#if defined(__x86_64__)
enum { CALL_SIZE = 5, CALL_STRIDE = 1 };
/// Returns the target of the direct call before a return address; 0 if there is none.
static uintptr_t target_of_call(uintptr_t pc) {
    const uint8_t *end = (const uint8_t *)pc;
    int32_t distance;
    memcpy(&distance, end - 4, sizeof distance);
    return end[-5] == 0xE8 ? pc + (uintptr_t)(intptr_t)distance : 0;
}
#else
enum { CALL_SIZE = 4, CALL_STRIDE = 4 };
static uintptr_t target_of_call(uintptr_t pc) {
    const uint32_t call = ((const uint32_t *)pc)[-1];
    const int32_t distance = (int32_t)(call << 6) >> 4;
    return call >> 26 == 0x25 ? pc - 4 + (uintptr_t)(intptr_t)distance : 0;
}
#endif

/// Whether a function that the compiler has made begins at an address.
static bool is_compilers_function(uintptr_t address) {
    uintptr_t start = 0;
    if (address == 0) return false;
    const size_t size = rl_size_of_function(address + 1, &start);
    return size > 0 && start == address && rl_is_compilers_own(address + 1);
}

bool rl_copies_between(uintptr_t begin, uintptr_t end) {
    if (call_site_of(end)->copying != UNKNOWN_YET) return call_site_of(end)->copying == COPIES;
    bool is_copying = false;
    if (rl_are_in_one_function(begin, end))
        for (uintptr_t at = begin + CALL_SIZE; at < end && !is_copying; at += CALL_STRIDE)
            is_copying = is_compilers_function(target_of_call(at));
    call_site_of(end)->copying = is_copying ? COPIES : COPIES_NOTHING;
    return is_copying;
}
