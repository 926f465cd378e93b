// Line tables, in the format of DWARF 2 to 5.

#pragma once

#include "Platform/build.h"

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
    reader names;  // the tables of folders and files
    uint8_t version, offset_size;
    uint8_t shortest_instruction, line_range, first_special;
    int8_t line_base;
    uint32_t generated_file;  // the number of the file `<compiler-generated>`; 0: none
} unit;

/// The sections to which the names of files may refer.
typedef struct {
    reader texts, line_texts;
} line_texts;

/// The registers of the state machine that executes line programs.
typedef struct {
    uintptr_t address;
    uint64_t file, line, column;
    bool ends_sequence;
} registers;

/// Runs the program up to its next row. Returns false at its end.
bool rl_next_row(reader *r, const unit *u, registers *now);
/// Reads the header of the next line table. Returns false if its format is not supported.
bool rl_next_unit(reader *section, unit *u);
/// The text at an offset; empty beyond the end.
const char *rl_text_at(reader texts, uint64_t offset);
/// The name and the folder of the file with a number.
void rl_find_file(const line_texts *texts, const unit *u, uint32_t number, rl_line *line);
