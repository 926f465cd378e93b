#include "Symbols/source_lines.h"

#include "Platform/memory.h"
#include "State/state.h"
#include "Symbols/libraries.h"
#include "Symbols/line_table.h"

#if defined(__linux__)

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

/// The rows of contiguous code, sorted by address.
typedef struct {
    uintptr_t start, end;
    unit unit;
    const uint8_t *program;  // where it begins in the line program of its unit
    row *rows;               // NULL until they are needed
    uint32_t row_count;
} sequence;

/// A file that is mapped into this process, with its line tables.
typedef struct image {
    uintptr_t bias, start, end;
    sequence *sequences;
    size_t sequence_count, sequence_capacity;
    Elf64_Sym *functions;  // sorted by address …
    size_t function_count;
    Elf64_Sym *variables;  // … as these are, which are NULL until they are needed
    size_t variable_count;
    reader symbols;
    reader names;
    line_texts texts;
    struct image *next;
} image;

static image *images;
/// Guards the tables. A thread that takes it runs outside the scenario, or is ignored.
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

// MARK: - Reading

static void add_sequence(image *i, sequence s) {
    // The linker places discarded functions at address 0 or 1.
    if (s.start <= 1 || s.end <= s.start) return;
    MAKE_LASTING_ROOM(i->sequences, i->sequence_count, i->sequence_capacity, 256);
    i->sequences[i->sequence_count++] = s;
}

static void read_sequences(image *i, reader section) {
    while (section.at < section.end) {
        unit u;
        if (!rl_next_unit(&section, &u)) continue;
        reader r = {u.program, u.end};
        registers now = {.ends_sequence = true};
        sequence s = {0};
        for (bool is_first = true; rl_next_row(&r, &u, &now); is_first = now.ends_sequence) {
            if (is_first) s = (sequence){.start = now.address, .unit = u, .program = u.program};
            s.end = now.address;
            if (!now.ends_sequence) continue;
            add_sequence(i, s);
            u.program = r.at;
        }
    }
}

static int by_start(const void *one, const void *other) {
    uintptr_t a = ((const sequence *)one)->start, b = ((const sequence *)other)->start;
    return (a > b) - (a < b);
}

/// A section of a mapped file; empty if it is not within the file.
static reader contents(reader file, const Elf64_Shdr *section) {
    size_t size = (size_t)(file.end - file.at);
    bool is_inside = section->sh_offset <= size && section->sh_size <= size - section->sh_offset;
    const uint8_t *start = file.at + (is_inside ? section->sh_offset : 0);
    return (reader){start, start + (is_inside ? section->sh_size : 0)};
}

static int by_value(const void *one, const void *other) {
    uint64_t a = ((const Elf64_Sym *)one)->st_value, b = ((const Elf64_Sym *)other)->st_value;
    return (a > b) - (a < b);
}

/// Returns the symbols of one type, sorted by address.
static Elf64_Sym *symbols_of(const image *i, unsigned type, size_t *found) {
    const Elf64_Sym *symbols = (const Elf64_Sym *)i->symbols.at;
    size_t count = (size_t)(i->symbols.end - i->symbols.at) / sizeof *symbols;
    Elf64_Sym *all = rl_grown(NULL, 0, count + 1, sizeof *symbols);
    for (size_t k = 0; k < count; k++)
        if (ELF64_ST_TYPE(symbols[k].st_info) == type && symbols[k].st_value)
            all[(*found)++] = symbols[k];
    qsort(all, *found, sizeof *symbols, by_value);
    return all;
}

static void read_sections(image *i, reader file) {
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file.at;
    size_t size = (size_t)(file.end - file.at);
    bool is_elf = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                  header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_shoff <= size &&
                  (size - header->e_shoff) / sizeof(Elf64_Shdr) >= header->e_shnum &&
                  header->e_shstrndx < header->e_shnum;
    if (!is_elf) return;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file.at + header->e_shoff);
    reader names = contents(file, &sections[header->e_shstrndx]);
    for (int k = 0; k < header->e_shnum; k++) {
        const Elf64_Shdr *s = &sections[k];
        if (s->sh_type == SHT_SYMTAB && s->sh_link < header->e_shnum) {
            i->names = contents(file, &sections[s->sh_link]);
            i->symbols = contents(file, s);
            i->functions = symbols_of(i, STT_FUNC, &i->function_count);
        }
        if (s->sh_type != SHT_PROGBITS || (s->sh_flags & SHF_COMPRESSED)) continue;
        const char *of = rl_text_at(names, s->sh_name);
        if (strcmp(of, ".debug_line") == 0) read_sequences(i, contents(file, s));
        if (strcmp(of, ".debug_str") == 0) i->texts.texts = contents(file, s);
        if (strcmp(of, ".debug_line_str") == 0) i->texts.line_texts = contents(file, s);
    }
    qsort(i->sequences, i->sequence_count, sizeof *i->sequences, by_start);
}

/// The file stays mapped: rows and names are read on demand.
static void read_file(image *i, const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file < 0) return;
    bool is_readable = fstat(file, &status) == 0 && status.st_size > (off_t)sizeof(Elf64_Ehdr);
    size_t size = is_readable ? (size_t)status.st_size : 0;
    void *memory = is_readable ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    close(file);
    if (memory == MAP_FAILED) return;
    read_sections(i, (reader){memory, (const uint8_t *)memory + size});
}

static image *read_image(library from) {
    image *i = rl_allocate(sizeof *i, "the line table of a library");
    *i = (image){.bias = from.bias, .start = from.start, .end = from.end, .next = images};
    images = i;
    read_file(i, *from.path ? from.path : "/proc/self/exe");
    return i;
}

/// Returns the image that contains an address, or NULL. Assumes that a library with code under test
/// is not unloaded.
static image *image_of(uintptr_t pc) {
    pthread_mutex_lock(&reading);
    image *i = images;
    while (i && (pc < i->start || pc >= i->end)) i = i->next;
    if (!i) {
        const library found = rl_library_with(pc);
        if (found.path) i = read_image(found);
    }
    pthread_mutex_unlock(&reading);
    return i;
}

// MARK: - Lookups

static void read_rows(sequence *s) {
    uint32_t capacity = 0;
    reader r = {s->program, s->unit.end};
    registers now = {.ends_sequence = true};
    do {
        if (!rl_next_row(&r, &s->unit, &now)) break;
        MAKE_LASTING_ROOM(s->rows, s->row_count, capacity, 256);
        s->rows[s->row_count++] =
            (row){now.address, (uint32_t)now.file, (uint32_t)now.line, (uint32_t)now.column};
    } while (!now.ends_sequence);
}

/// Returns how many elements of a sorted table have a key that is not greater than this one.
/// `first`: the key of the first element.
static size_t count_up_to(uint64_t key, const void *first, size_t count, size_t size) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (*(const uint64_t *)((const char *)first + middle * size) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#define COUNT_UP_TO(key, table, count, field) \
    count_up_to(key, &(table)->field, count, sizeof *(table))

/// Returns the contiguous code that contains an offset in the image, with its rows; NULL without
/// lines.
static sequence *sequence_of(image *i, uintptr_t address) {
    const size_t before = COUNT_UP_TO(address, i->sequences, i->sequence_count, start);
    if (before == 0 || address >= i->sequences[before - 1].end) return NULL;
    sequence *s = &i->sequences[before - 1];
    pthread_mutex_lock(&reading);
    if (!s->rows) read_rows(s);
    pthread_mutex_unlock(&reading);
    return s;
}

/// Returns the last row whose address is not greater than this one.
static uint32_t row_at(const sequence *s, uintptr_t address) {
    const size_t before = COUNT_UP_TO(address, s->rows, s->row_count, address);
    return before ? (uint32_t)before - 1 : 0;
}

/// Returns the symbol whose extent contains an offset in the image, or NULL.
static const Elf64_Sym *symbol_at(const Elf64_Sym *symbols, size_t count, uintptr_t offset) {
    const size_t before = COUNT_UP_TO(offset, symbols, count, st_value);
    if (before == 0) return NULL;
    const Elf64_Sym *last = &symbols[before - 1];
    return offset - last->st_value < last->st_size ? last : NULL;
}

/// Returns the function or the variable that contains an address; NULL if it has no symbol.
static const Elf64_Sym *variable_at(image *i, uintptr_t address) {
    pthread_mutex_lock(&reading);
    if (!i->variables) i->variables = symbols_of(i, STT_OBJECT, &i->variable_count);
    pthread_mutex_unlock(&reading);
    return symbol_at(i->variables, i->variable_count, address - i->bias);
}

static const Elf64_Sym *function_at(const image *i, uintptr_t address) {
    return symbol_at(i->functions, i->function_count, address - i->bias);
}

// MARK: - Statements

static bool is_statement(const row *r) { return r->line > 0 && r->column > 0; }

static uintptr_t enclosing_function(uintptr_t address) {
    // The function expects a return address, and looks up the address before it.
    return (uintptr_t)_Unwind_FindEnclosingFunction((void *)(address + 1));
}

/// Whether a function contains a statement. Functions that the compiler adds do not: they have no
/// lines, or only that of a declaration, without a column.
static bool has_statement(const sequence *s, uintptr_t function, uintptr_t bias) {
    for (uint32_t k = row_at(s, function - bias); k < s->row_count; k++) {
        uintptr_t address = s->rows[k].address + bias;
        if (address < function) continue;
        if (enclosing_function(address) != function) return false;
        if (is_statement(&s->rows[k])) return true;
    }
    return false;
}

rl_source rl_find_source(uintptr_t pc) {
    const uintptr_t before = pc - 1;  // a return address follows the call
    image *i = image_of(before);
    // Without line tables the kinds of code cannot be distinguished.
    if (!i || i->sequence_count == 0) return OF_STATEMENT;
    sequence *s = sequence_of(i, before - i->bias);
    if (!s) return OF_COMPILER;
    const row *here = &s->rows[row_at(s, before - i->bias)];
    if (is_statement(here)) return OF_STATEMENT;
    uintptr_t function = enclosing_function(before);
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
    const image *i = image_of(address);
    const Elf64_Sym *function = i ? function_at(i, address) : NULL;
    return function ? rl_text_at(i->names, function->st_name) : "";
}

bool rl_is_allocating(uintptr_t pc) {
    const char *name = name_of_function_at(pc - 1);
    size_t size = strlen(name);
    return size > 2 && strcmp(name + size - 2, "fC") == 0;
}

uintptr_t rl_statement_of_call(uintptr_t pc, uintptr_t callee) {
    const uintptr_t before = pc - 1;
    image *i = image_of(before);
    sequence *s = i ? sequence_of(i, before - i->bias) : NULL;
    if (!s) return pc;
    uint32_t at = row_at(s, before - i->bias);
    if (is_statement(&s->rows[at])) return pc;
    // The only functions that libraries resume by themselves end an access by key path.
    const access_end end =
        rl_is_of_program(callee) ? end_of_access(name_of_function_at(callee - 1)) : ENDS;
    if (end == NEITHER) return pc;
    const uintptr_t function = enclosing_function(before);
    for (uint32_t k = at; k < s->row_count; k += end == BEGINS ? 1 : -1u) {
        // Before the first row, `k` wraps around to the largest number, which ends the loop.
        uintptr_t address = s->rows[k].address + i->bias;
        if (enclosing_function(k == at ? before : address) != function) break;
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
    image *i = image_of(pc - 1);
    // Without symbols, static data cannot be distinguished from caches.
    if (!i || i->function_count == 0) return true;
    const Elf64_Sym *variable = variable_at(i, address);
    return variable && is_name_of_cache(rl_text_at(i->names, variable->st_name));
}

void rl_read_symbols(uintptr_t address) {
    image *i = image_of(address);
    if (i) variable_at(i, address);
}

// MARK: - Lines

bool rl_find_line(uintptr_t address, rl_line *line) {
    image *i = image_of(address);
    const Elf64_Sym *function = i ? function_at(i, address) : NULL;
    if (!function) return false;
    *line = (rl_line){.function = rl_text_at(i->names, function->st_name),
                      .function_start = function->st_value + i->bias,
                      .file = "",
                      .folder = ""};
    const sequence *s = sequence_of(i, address - i->bias);
    if (!s) return true;
    const row *here = &s->rows[row_at(s, address - i->bias)];
    line->line = here->line;
    line->column = here->column;
    rl_find_file(&i->texts, &s->unit, here->file, line);
    return true;
}

#else

rl_source rl_find_source(uintptr_t pc) {
    return rl_exploration.scenario->is_compilers_own(pc) ? OF_COMPILER : OF_STATEMENT;
}

bool rl_find_line(uintptr_t address, rl_line *line) { return (void)address, (void)line, false; }
bool rl_is_allocating(uintptr_t pc) { return (void)pc, false; }
uintptr_t rl_statement_of_call(uintptr_t pc, uintptr_t callee) { return (void)callee, pc; }

#endif
