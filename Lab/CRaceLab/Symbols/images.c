#include "Symbols/images.h"

#if defined(__linux__)

#include "Platform/memory.h"
#include "Symbols/libraries.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

image *rl_image_of(uintptr_t pc) {
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

sequence *rl_sequence_of(image *i, uintptr_t address) {
    const size_t before = COUNT_UP_TO(address, i->sequences, i->sequence_count, start);
    if (before == 0 || address >= i->sequences[before - 1].end) return NULL;
    sequence *s = &i->sequences[before - 1];
    pthread_mutex_lock(&reading);
    if (!s->rows) read_rows(s);
    pthread_mutex_unlock(&reading);
    return s;
}

uint32_t rl_row_at(const sequence *s, uintptr_t address) {
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

const Elf64_Sym *rl_variable_at(image *i, uintptr_t address) {
    pthread_mutex_lock(&reading);
    if (!i->variables) i->variables = symbols_of(i, STT_OBJECT, &i->variable_count);
    pthread_mutex_unlock(&reading);
    return symbol_at(i->variables, i->variable_count, address - i->bias);
}

const Elf64_Sym *rl_function_at(const image *i, uintptr_t address) {
    return symbol_at(i->functions, i->function_count, address - i->bias);
}

#endif
