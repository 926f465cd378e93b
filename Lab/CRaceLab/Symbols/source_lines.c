// Maps addresses to source locations, using the line tables of the program (DWARF 2 to 5, in ELF
// files). A lookup takes microseconds, so it can be made during an exploration.

#include "Symbols/source_lines.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include "Platform/memory.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

/// One row of a line table.
typedef struct {
    uintptr_t address;
    uint32_t file, line, column;
} row;

/// The unread rest of some data. Reads beyond the end return 0.
typedef struct {
    const uint8_t *at, *end;
} reader;

/// The header of a line table, as far as its line program needs it.
typedef struct {
    const uint8_t *program, *end;
    const uint8_t *operand_counts;
    reader names;                   // the tables of folders and files
    uint8_t version, offset_size;
    uint8_t shortest_instruction, line_range, first_special;
    int8_t line_base;
    uint32_t generated_file;        // the number of the file `<compiler-generated>`; 0: none
} unit;

/// The rows of contiguous code, sorted by address.
typedef struct {
    uintptr_t start, end;
    unit unit;
    const uint8_t *program;         // where it begins in the line program of its unit
    row *rows;                      // NULL until they are needed
    uint32_t row_count;
} sequence;

/// A file that is mapped into this process, with its line tables.
typedef struct image {
    uintptr_t bias, start, end;
    sequence *sequences;
    size_t sequence_count, sequence_capacity;
    Elf64_Sym *functions;           // sorted by address …
    size_t function_count;
    Elf64_Sym *variables;           // … as these are, which are NULL until they are needed
    size_t variable_count;
    reader symbols;
    reader names, texts, line_texts;
    struct image *next;
} image;

static image *images;
/// Guards the tables. A thread that takes it runs outside the scenario, or is ignored.
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;

// MARK: - Reading

static uint64_t fixed(reader *r, size_t size) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < size) {
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, size);
    r->at += size;
    return value;
}

static uint64_t variable(reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; r->at < r->end; shift += 7) {
        uint8_t byte = *r->at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t signed_variable(reader *r) {
    int64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
        if (r->at >= r->end) break;
        byte = *r->at++;
        if (shift < 64) value |= (int64_t)((uint64_t)(byte & 0x7F) << shift);
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40)) value |= -((int64_t)1 << shift);
    return value;
}

static const char *text(reader *r) {
    const char *start = (const char *)r->at;
    while (r->at < r->end && *r->at) r->at++;
    if (r->at == r->end) return "";
    r->at++;
    return start;
}

// MARK: - Line programs

enum {
    COPY = 1, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN, NEGATE_STATEMENT, SET_BASIC_BLOCK,
    ADD_TO_PC, FIXED_ADVANCE_PC
};
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

/// The registers of the state machine that executes line programs.
typedef struct {
    uintptr_t address;
    uint64_t file, line, column;
    bool ends_sequence;
} registers;

/// Runs the program up to its next row. Returns false at its end.
static bool next_row(reader *r, const unit *u, registers *now) {
    if (now->ends_sequence) *now = (registers){.file = 1, .line = 1};
    while (r->at < r->end) {
        uint8_t code = *r->at++;
        if (code >= u->first_special) {
            unsigned number = code - u->first_special;
            now->address += number / u->line_range * u->shortest_instruction;
            now->line += (uint64_t)(int64_t)(u->line_base + (int)(number % u->line_range));
            return true;
        }
        switch (code) {
            case 0: {
                uint64_t size = variable(r);
                if (size > (uint64_t)(r->end - r->at)) size = (uint64_t)(r->end - r->at);
                reader extended = {r->at, r->at + size};
                r->at += size;
                uint8_t what = (uint8_t)fixed(&extended, 1);
                if (what == SET_ADDRESS) now->address = (uintptr_t)fixed(&extended, 8);
                if (what == END_SEQUENCE) return now->ends_sequence = true;
                break;
            }
            case COPY: return true;
            case ADVANCE_PC: now->address += variable(r) * u->shortest_instruction; break;
            case ADVANCE_LINE: now->line += (uint64_t)signed_variable(r); break;
            case SET_FILE: now->file = variable(r); break;
            case SET_COLUMN: now->column = variable(r); break;
            case ADD_TO_PC:
                now->address += (255u - u->first_special) / u->line_range * u->shortest_instruction;
                break;
            case FIXED_ADVANCE_PC: now->address += fixed(r, 2); break;
            default:
                for (int i = u->operand_counts[code - 1]; i > 0; i--) variable(r);
        }
    }
    return false;
}

/// The number of the file to which the compiler attributes the code that it adds. Only Swift has
/// one, and Swift writes DWARF 4.
static uint32_t generated_file(reader tables) {
    while (tables.at < tables.end && *text(&tables)) continue;  // folders
    for (uint32_t number = 1; tables.at < tables.end; number++) {
        const char *name = text(&tables);
        if (!*name) break;
        if (strcmp(name, "<compiler-generated>") == 0) return number;
        for (int i = 0; i < 3; i++) variable(&tables);
    }
    return 0;
}

/// Reads the header of the next line table. Returns false if its format is not supported.
static bool next_unit(reader *section, unit *u) {
    uint64_t size = fixed(section, 4);
    size_t offset_size = 4;
    if (size == 0xFFFFFFFF) {
        offset_size = 8;
        size = fixed(section, 8);
    }
    if (size > (uint64_t)(section->end - section->at)) size = (uint64_t)(section->end - section->at);
    reader r = {section->at, section->at + size};
    section->at += size;
    uint64_t version = fixed(&r, 2);
    if (version < 2 || version > 5) return false;
    if (version == 5 && fixed(&r, 2) != 8) return false;  // 8-byte addresses, no segments
    uint64_t header = fixed(&r, offset_size);
    if (header > (uint64_t)(r.end - r.at)) return false;
    *u = (unit){.program = r.at + header, .end = r.end, .version = (uint8_t)version,
                .offset_size = (uint8_t)offset_size};
    r.end = u->program;
    u->shortest_instruction = (uint8_t)fixed(&r, 1);
    if (version >= 4) fixed(&r, 1);  // maximum operations per instruction
    fixed(&r, 1);                    // whether rows begin statements by default
    u->line_base = (int8_t)fixed(&r, 1);
    u->line_range = (uint8_t)fixed(&r, 1);
    u->first_special = (uint8_t)fixed(&r, 1);
    if (u->line_range == 0 || u->first_special == 0) return false;
    if ((size_t)(r.end - r.at) < u->first_special - 1u) return false;
    u->operand_counts = r.at;
    r.at += u->first_special - 1;
    u->names = r;
    if (version < 5) u->generated_file = generated_file(r);
    return true;
}

// MARK: - Images

static void add_sequence(image *i, sequence s) {
    // The linker places discarded functions at address 0 or 1.
    if (s.start <= 1 || s.end <= s.start) return;
    if (i->sequence_count == i->sequence_capacity) {
        size_t wanted = i->sequence_capacity ? 2 * i->sequence_capacity : 256;
        i->sequences = rl_grown(i->sequences, i->sequence_count, wanted, sizeof s);
        i->sequence_capacity = wanted;
    }
    i->sequences[i->sequence_count++] = s;
}

static void read_sequences(image *i, reader section) {
    while (section.at < section.end) {
        unit u;
        if (!next_unit(&section, &u)) continue;
        reader r = {u.program, u.end};
        registers now = {.ends_sequence = true};
        sequence s = {0};
        for (bool is_first = true; next_row(&r, &u, &now); is_first = now.ends_sequence) {
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
        reader name = {names.at + s->sh_name, names.end};
        if (s->sh_name >= (size_t)(names.end - names.at)) continue;
        if (s->sh_type == SHT_SYMTAB && s->sh_link < header->e_shnum) {
            i->names = contents(file, &sections[s->sh_link]);
            i->symbols = contents(file, s);
            i->functions = symbols_of(i, STT_FUNC, &i->function_count);
        }
        if (s->sh_type != SHT_PROGBITS || (s->sh_flags & SHF_COMPRESSED)) continue;
        const char *of = text(&name);
        if (strcmp(of, ".debug_line") == 0) read_sequences(i, contents(file, s));
        if (strcmp(of, ".debug_str") == 0) i->texts = contents(file, s);
        if (strcmp(of, ".debug_line_str") == 0) i->line_texts = contents(file, s);
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

static image *read_image(const struct dl_phdr_info *info, uintptr_t start, uintptr_t end) {
    image *i = rl_allocate(sizeof *i, "the line table of a library");
    *i = (image){.bias = info->dlpi_addr, .start = start, .end = end, .next = images};
    images = i;
    bool is_program = !info->dlpi_name || !*info->dlpi_name;
    read_file(i, is_program ? "/proc/self/exe" : info->dlpi_name);
    return i;
}

typedef struct {
    uintptr_t pc;
    image *found;
} search_for_image;

static int look_at_image(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    search_for_image *search = argument;
    uintptr_t start = UINTPTR_MAX, end = 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const Elf64_Phdr *segment = &info->dlpi_phdr[k];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
        uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (from < start) start = from;
        if (from + segment->p_memsz > end) end = from + segment->p_memsz;
    }
    if (search->pc < start || search->pc >= end) return 0;
    search->found = read_image(info, start, end);
    return 1;
}

/// Assumes that a library with code under test is not unloaded.
static image *image_of(uintptr_t pc) {
    pthread_mutex_lock(&reading);
    image *i = images;
    while (i && (pc < i->start || pc >= i->end)) i = i->next;
    search_for_image search = {.pc = pc, .found = i};
    if (!i) dl_iterate_phdr(look_at_image, &search);
    pthread_mutex_unlock(&reading);
    return search.found;
}

// MARK: - Lookups

static void read_rows(sequence *s) {
    uint32_t capacity = 0;
    reader r = {s->program, s->unit.end};
    registers now = {.ends_sequence = true};
    do {
        if (!next_row(&r, &s->unit, &now)) break;
        if (s->row_count == capacity) {
            uint32_t wanted = capacity ? 2 * capacity : 256;
            s->rows = rl_grown(s->rows, capacity, wanted, sizeof *s->rows);
            capacity = wanted;
        }
        s->rows[s->row_count++] = (row){now.address, (uint32_t)now.file, (uint32_t)now.line,
                                        (uint32_t)now.column};
    } while (!now.ends_sequence);
}

static sequence *sequence_of(image *i, uintptr_t address) {
    size_t low = 0, high = i->sequence_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (i->sequences[middle].start <= address) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return NULL;
    sequence *s = &i->sequences[low - 1];
    if (address >= s->end) return NULL;
    pthread_mutex_lock(&reading);
    if (!s->rows) read_rows(s);
    pthread_mutex_unlock(&reading);
    return s;
}

/// Returns the last row whose address is not greater than this one.
static uint32_t row_at(const sequence *s, uintptr_t address) {
    uint32_t low = 0, high = s->row_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (s->rows[middle].address <= address) low = middle + 1;
        else high = middle;
    }
    return low ? low - 1 : 0;
}

static bool is_statement(const row *r) { return r->line > 0 && r->column > 0; }

static uintptr_t function_at(uintptr_t address) {
    // The function expects a return address, and looks up the address before it.
    return (uintptr_t)_Unwind_FindEnclosingFunction((void *)(address + 1));
}

/// Whether a function contains a statement. Functions that the compiler adds do not: they have no
/// lines, or only that of a declaration, without a column.
static bool has_statement(const sequence *s, uintptr_t function, uintptr_t bias) {
    for (uint32_t k = row_at(s, function - bias); k < s->row_count; k++) {
        uintptr_t address = s->rows[k].address + bias;
        if (address < function) continue;
        if (function_at(address) != function) return false;
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
    uintptr_t function = function_at(before);
    if (!function || !has_statement(s, function, i->bias)) return OF_COMPILER;
    bool is_generated = s->unit.generated_file && here->file == s->unit.generated_file;
    return is_generated ? ADDED_BY_COMPILER : OF_STATEMENT;
}

// MARK: - Calls of accessors

/// Classifies a call by the mangled name of its callee. `…vM` begins to modify a property, `…vg`
/// gets it before a modification, and `…vs` sets it afterwards; for a subscript it is `…iM` and so
/// on. A `Z` at the end means static, and `TW` a protocol witness.
static rl_access_end end_of_access(const char *name) {
    if (strstr(name, ".resume.")) return ENDS;
    if (strncmp(name, "swift_modifyAt", strlen("swift_modifyAt")) == 0) return BEGINS;
    size_t size = strlen(name);
    if (size > 2 && strncmp(name + size - 2, "TW", 2) == 0) size -= 2;
    if (size > 1 && name[size - 1] == 'Z') size--;
    if (size < 2 || (name[size - 2] != 'v' && name[size - 2] != 'i')) return NEITHER;
    switch (name[size - 1]) {
        case 'M':
        case 'g': return BEGINS;
        case 's': return ENDS;
        default: return NEITHER;
    }
}

/// Returns the symbol whose extent contains an offset in the image, or NULL.
static const Elf64_Sym *symbol_at(const Elf64_Sym *symbols, size_t count, uintptr_t offset) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (symbols[middle].st_value <= offset) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return NULL;
    return offset - symbols[low - 1].st_value < symbols[low - 1].st_size ? &symbols[low - 1] : NULL;
}

/// Returns the function that contains an address; NULL if it has no symbol.
static const Elf64_Sym *named_function(const image *i, uintptr_t address) {
    return symbol_at(i->functions, i->function_count, address - i->bias);
}

static const char *text_at(reader texts, uint64_t offset) {
    reader r = {texts.at + offset, texts.end};
    return offset < (uint64_t)(texts.end - texts.at) ? text(&r) : "";
}

/// The mangled name of a function; empty if it has no symbol.
static const char *name_of_function_at(uintptr_t address) {
    const image *i = image_of(address);
    const Elf64_Sym *function = i ? named_function(i, address) : NULL;
    return function ? text_at(i->names, function->st_name) : "";
}

rl_access_end rl_access_end_at(uintptr_t pc) { return end_of_access(name_of_function_at(pc - 1)); }

bool rl_is_allocating(uintptr_t pc) {
    const char *name = name_of_function_at(pc - 1);
    size_t size = strlen(name);
    return size > 2 && strcmp(name + size - 2, "fC") == 0;
}

bool rl_has_no_line(uintptr_t pc) {
    image *i = image_of(pc - 1);
    sequence *s = i ? sequence_of(i, pc - 1 - i->bias) : NULL;
    return s && !is_statement(&s->rows[row_at(s, pc - 1 - i->bias)]);
}

uintptr_t rl_nearest_statement(uintptr_t pc, rl_access_end end) {
    const uintptr_t before = pc - 1;
    image *i = image_of(before);
    sequence *s = i ? sequence_of(i, before - i->bias) : NULL;
    if (!s || end == NEITHER) return pc;
    uint32_t at = row_at(s, before - i->bias);
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

/// Classifies a variable by its mangled name. `…WL` caches a witness table; `…ML`, `…Ml`, `…MI`, `…MD`
/// and `…Md` cache type metadata.
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
    pthread_mutex_lock(&reading);
    if (!i->variables) i->variables = symbols_of(i, STT_OBJECT, &i->variable_count);
    pthread_mutex_unlock(&reading);
    const Elf64_Sym *variable = symbol_at(i->variables, i->variable_count, address - i->bias);
    return variable && is_name_of_cache(text_at(i->names, variable->st_name));
}

// MARK: - Names of files

/// Reads an entry of a table of folders or files in DWARF 5. `forms` describes the entry's fields.
static const char *described_entry(reader *r, const image *i, reader forms, size_t offset_size,
                                   uint64_t *folder) {
    enum { PATH = 1, FOLDER = 2 };
    enum { DATA2 = 0x05, DATA4 = 0x06, DATA8 = 0x07, TEXT = 0x08, BLOCK = 0x09, DATA1 = 0x0B,
           OFFSET = 0x0E, NUMBER = 0x0F, DATA16 = 0x1E, LINE_OFFSET = 0x1F };
    const char *path = "";
    while (forms.at < forms.end) {
        uint64_t what = variable(&forms), form = variable(&forms), number = 0;
        const char *found = "";
        switch (form) {
            case TEXT: found = text(r); break;
            case OFFSET: found = text_at(i->texts, fixed(r, offset_size)); break;
            case LINE_OFFSET: found = text_at(i->line_texts, fixed(r, offset_size)); break;
            case DATA1: number = fixed(r, 1); break;
            case DATA2: number = fixed(r, 2); break;
            case DATA4: number = fixed(r, 4); break;
            case DATA8: number = fixed(r, 8); break;
            case DATA16: fixed(r, 8), fixed(r, 8); break;
            case NUMBER: number = variable(r); break;
            case BLOCK:
                for (uint64_t size = variable(r); size > 0 && r->at < r->end; size--) r->at++;
                break;
            default: r->at = r->end;
        }
        if (what == PATH) path = found;
        if (what == FOLDER) *folder = number;
    }
    return path;
}

/// Returns the entry with a number in the next table, and advances the reader past that table.
static const char *described(reader *r, const image *i, size_t offset_size, uint64_t number,
                             uint64_t *folder) {
    uint64_t form_count = fixed(r, 1);
    reader forms = {r->at, r->at};
    for (uint64_t k = 0; k < 2 * form_count; k++) variable(r);
    forms.end = r->at;
    const char *found = "";
    uint64_t count = variable(r);
    for (uint64_t k = 0; k < count && r->at < r->end; k++) {
        uint64_t of = 0;
        const char *path = described_entry(r, i, forms, offset_size, &of);
        if (k != number) continue;
        found = path;
        if (folder) *folder = of;
    }
    return found;
}

static void find_file(const image *i, const unit *u, uint32_t number, rl_line *line) {
    reader r = u->names;
    uint64_t folder = 0;
    line->file = line->folder = "";
    if (u->version >= 5) {
        described(&r, i, u->offset_size, 0, NULL);
        line->file = described(&r, i, u->offset_size, number, &folder);
        r = u->names;
        line->folder = described(&r, i, u->offset_size, folder, NULL);
        return;
    }
    const reader folders = r;
    while (r.at < r.end && *text(&r)) continue;
    for (uint32_t k = 1; r.at < r.end; k++) {
        const char *name = text(&r);
        uint64_t of = variable(&r);
        if (!*name) return;
        variable(&r), variable(&r);
        if (k != number) continue;
        line->file = name;
        r = folders;
        for (uint64_t f = 1; f <= of && r.at < r.end; f++) line->folder = text(&r);
        return;
    }
}

bool rl_find_line(uintptr_t address, rl_line *line) {
    image *i = image_of(address);
    const Elf64_Sym *function = i ? named_function(i, address) : NULL;
    if (!function) return false;
    *line = (rl_line){.function = text_at(i->names, function->st_name),
                      .function_start = function->st_value + i->bias, .file = "", .folder = ""};
    const sequence *s = sequence_of(i, address - i->bias);
    if (!s) return true;
    const row *here = &s->rows[row_at(s, address - i->bias)];
    line->line = here->line;
    line->column = here->column;
    find_file(i, &s->unit, here->file, line);
    return true;
}

#elif !defined(RL_WITHOUT_HOOKS)

bool rl_find_line(uintptr_t address, rl_line *line) { return (void)address, (void)line, false; }

#endif
