#include "Symbols/source_lines.h"

#include "State/state.h"
#include "Symbols/images.h"

#if defined(__linux__)

#include <string.h>
#include <unwind.h>

static bool is_statement(const row *r) { return r->line > 0 && r->column > 0; }

static uintptr_t function_at(uintptr_t address) {
    // The function expects a return address, and looks up the address before it.
    return (uintptr_t)_Unwind_FindEnclosingFunction((void *)(address + 1));
}

/// Whether a function contains a statement. Functions that the compiler adds do not: they have no
/// lines, or only that of a declaration, without a column.
static bool has_statement(const sequence *s, uintptr_t function, uintptr_t bias) {
    for (uint32_t k = rl_row_at(s, function - bias); k < s->row_count; k++) {
        uintptr_t address = s->rows[k].address + bias;
        if (address < function) continue;
        if (function_at(address) != function) return false;
        if (is_statement(&s->rows[k])) return true;
    }
    return false;
}

rl_source rl_find_source(uintptr_t pc) {
    const uintptr_t before = pc - 1;  // a return address follows the call
    image *i = rl_image_of(before);
    // Without line tables the kinds of code cannot be distinguished.
    if (!i || i->sequence_count == 0) return OF_STATEMENT;
    sequence *s = rl_sequence_of(i, before - i->bias);
    if (!s) return OF_COMPILER;
    const row *here = &s->rows[rl_row_at(s, before - i->bias)];
    if (is_statement(here)) return OF_STATEMENT;
    uintptr_t function = function_at(before);
    if (!function || !has_statement(s, function, i->bias)) return OF_COMPILER;
    bool is_generated = s->unit.generated_file && here->file == s->unit.generated_file;
    return is_generated ? ADDED_BY_COMPILER : OF_STATEMENT;
}

// MARK: - Calls of accessors

/// A modification in place may be two accessor calls, one that begins it and one that ends it. The
/// statement lies between them.
typedef enum { NEITHER, BEGINS, ENDS } access_end;

/// Classifies a call by the mangled name of its callee. `…vM` begins to modify a property, `…vg`
/// gets it before a modification, and `…vs` sets it afterwards; for a subscript it is `…iM` and so
/// on. A `Z` at the end means static, and `TW` a protocol witness.
static access_end end_of_access(const char *name) {
    if (strstr(name, ".resume.")) return ENDS;
    if (strncmp(name, "swift_modifyAt", strlen("swift_modifyAt")) == 0) return BEGINS;
    size_t size = strlen(name);
    if (size > 2 && strncmp(name + size - 2, "TW", 2) == 0) size -= 2;
    if (size > 1 && name[size - 1] == 'Z') size--;
    if (size < 2 || (name[size - 2] != 'v' && name[size - 2] != 'i')) return NEITHER;
    const char last = name[size - 1];
    return last == 'M' || last == 'g' ? BEGINS : last == 's' ? ENDS : NEITHER;
}

/// The mangled name of a function; empty if it has no symbol.
static const char *name_of_function_at(uintptr_t address) {
    const image *i = rl_image_of(address);
    const Elf64_Sym *function = i ? rl_function_at(i, address) : NULL;
    return function ? rl_text_at(i->names, function->st_name) : "";
}

bool rl_is_allocating(uintptr_t pc) {
    const char *name = name_of_function_at(pc - 1);
    size_t size = strlen(name);
    return size > 2 && strcmp(name + size - 2, "fC") == 0;
}

uintptr_t rl_statement_of_call(uintptr_t pc, uintptr_t callee) {
    const uintptr_t before = pc - 1;
    image *i = rl_image_of(before);
    sequence *s = i ? rl_sequence_of(i, before - i->bias) : NULL;
    if (!s) return pc;
    uint32_t at = rl_row_at(s, before - i->bias);
    if (is_statement(&s->rows[at])) return pc;
    // The only functions that libraries resume by themselves end an access by key path.
    const access_end end =
        rl_is_of_program(callee) ? end_of_access(name_of_function_at(callee - 1)) : ENDS;
    if (end == NEITHER) return pc;
    const uintptr_t function = function_at(before);
    for (uint32_t k = at; k < s->row_count; k += end == BEGINS ? 1 : -1u) {
        // Before the first row, `k` wraps around to the largest number, which ends the loop.
        uintptr_t address = s->rows[k].address + i->bias;
        if (function_at(k == at ? before : address) != function) break;
        if (is_statement(&s->rows[k])) return address + 1;
    }
    return pc;
}

// MARK: - Caches of the compiler

/// Classifies a variable by its mangled name. `…WL` caches a witness table; `…ML`, `…Ml`, `…MI`,
/// `…MD` and `…Md` cache type metadata.
static bool is_name_of_cache(const char *name) {
    static const char *const ends[] = {"WL", "ML", "Ml", "MI", "MD", "Md"};
    const size_t size = strlen(name);
    if (strncmp(name, "$s", 2) != 0 || size < 4) return false;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (strcmp(name + size - 2, ends[k]) == 0) return true;
    return false;
}

bool rl_is_cache(uintptr_t pc, uintptr_t address) {
    image *i = rl_image_of(pc - 1);
    // Without symbols, static data cannot be distinguished from caches.
    if (!i || i->function_count == 0) return true;
    const Elf64_Sym *variable = rl_variable_at(i, address);
    return variable && is_name_of_cache(rl_text_at(i->names, variable->st_name));
}

// MARK: - Lines

bool rl_find_line(uintptr_t address, rl_line *line) {
    image *i = rl_image_of(address);
    const Elf64_Sym *function = i ? rl_function_at(i, address) : NULL;
    if (!function) return false;
    *line = (rl_line){.function = rl_text_at(i->names, function->st_name),
                      .function_start = function->st_value + i->bias,
                      .file = "",
                      .folder = ""};
    const sequence *s = rl_sequence_of(i, address - i->bias);
    if (!s) return true;
    const row *here = &s->rows[rl_row_at(s, address - i->bias)];
    line->line = here->line;
    line->column = here->column;
    rl_find_file(&i->texts, &s->unit, here->file, line);
    return true;
}

#else

rl_source rl_find_source(uintptr_t pc) {
    return lab.scenario->is_compilers_own(pc) ? OF_COMPILER : OF_STATEMENT;
}

bool rl_find_line(uintptr_t address, rl_line *line) { return (void)address, (void)line, false; }
bool rl_is_allocating(uintptr_t pc) { return (void)pc, false; }
uintptr_t rl_statement_of_call(uintptr_t pc, uintptr_t callee) { return (void)callee, pc; }

#endif
