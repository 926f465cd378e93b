// The program and the libraries in this process, with their line tables and symbols, read from
// their ELF files when an address in them is looked up for the first time.

#pragma once

#include "Symbols/line_table.h"

#if defined(__linux__)

#include <elf.h>

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

/// The image that contains an address, or NULL. Assumes that a library with code under test is not
/// unloaded.
image *rl_image_of(uintptr_t pc);
/// The contiguous code that contains an offset in the image, with its rows; NULL without lines.
sequence *rl_sequence_of(image *i, uintptr_t offset);
/// The last row whose address is not greater than this one.
uint32_t rl_row_at(const sequence *s, uintptr_t offset);
/// The function or the variable that contains an address; NULL if it has no symbol.
const Elf64_Sym *rl_function_at(const image *i, uintptr_t address);
const Elf64_Sym *rl_variable_at(image *i, uintptr_t address);

#endif
