#include "Symbols/line_table.h"

#if defined(__linux__)

#include <string.h>

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
    const uint8_t *start = r->at;
    const uint64_t value = variable(r);
    const size_t bits = 7 * (size_t)(r->at - start);
    const bool is_negative = r->at > start && (r->at[-1] & 0x40);
    return (int64_t)(is_negative && bits < 64 ? value - ((uint64_t)1 << bits) : value);
}

/// Advances past so many bytes, or to the end, and returns them.
static reader next_bytes(reader *r, uint64_t size) {
    const uint64_t rest = (uint64_t)(r->end - r->at);
    const uint8_t *start = r->at;
    r->at += size < rest ? size : rest;
    return (reader){start, r->at};
}

static const char *text(reader *r) {
    const char *start = (const char *)r->at;
    while (r->at < r->end && *r->at) r->at++;
    if (r->at == r->end) return "";
    r->at++;
    return start;
}

const char *rl_text_at(reader texts, uint64_t offset) {
    reader r = {texts.at + offset, texts.end};
    return offset < (uint64_t)(texts.end - texts.at) ? text(&r) : "";
}

// MARK: - Line programs

enum { EXTENDED = 0, COPY, ADVANCE_PC, ADVANCE_LINE, SET_FILE, SET_COLUMN };
enum { ADD_TO_PC = 8, FIXED_ADVANCE_PC };
enum { END_SEQUENCE = 1, SET_ADDRESS = 2 };

bool rl_next_row(reader *r, const unit *u, registers *now) {
    if (now->ends_sequence) *now = (registers){.file = 1, .line = 1};
    while (r->at < r->end) {
        uint8_t code = *r->at++;
        if (code >= u->first_special) {
            unsigned number = code - u->first_special;
            now->address += number / u->line_range * u->shortest_instruction;
            now->line += (uint64_t)(int64_t)(u->line_base + (int)(number % u->line_range));
            return true;
        }
        if (code == EXTENDED) {
            reader extended = next_bytes(r, variable(r));
            uint8_t what = (uint8_t)fixed(&extended, 1);
            if (what == SET_ADDRESS) now->address = (uintptr_t)fixed(&extended, 8);
            if (what == END_SEQUENCE) return now->ends_sequence = true;
        }
        if (code == COPY) return true;
        if (code == ADVANCE_PC) now->address += variable(r) * u->shortest_instruction;
        if (code == ADVANCE_LINE) now->line += (uint64_t)signed_variable(r);
        if (code == SET_FILE) now->file = variable(r);
        if (code == SET_COLUMN) now->column = variable(r);
        if (code == ADD_TO_PC)
            now->address += (255u - u->first_special) / u->line_range * u->shortest_instruction;
        if (code == FIXED_ADVANCE_PC) now->address += fixed(r, 2);
        // What the others set does not matter.
        if (code > FIXED_ADVANCE_PC)
            for (int i = u->operand_counts[code - 1]; i > 0; i--) variable(r);
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

bool rl_next_unit(reader *section, unit *u) {
    uint64_t size = fixed(section, 4);
    size_t offset_size = 4;
    if (size == 0xFFFFFFFF) {
        offset_size = 8;
        size = fixed(section, 8);
    }
    reader r = next_bytes(section, size);
    uint64_t version = fixed(&r, 2);
    if (version < 2 || version > 5) return false;
    if (version == 5 && fixed(&r, 2) != 8) return false;  // 8-byte addresses, no segments
    uint64_t header = fixed(&r, offset_size);
    if (header > (uint64_t)(r.end - r.at)) return false;
    *u = (unit){.program = r.at + header,
                .end = r.end,
                .version = (uint8_t)version,
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

// MARK: - Names of files

/// Reads an entry of a table of folders or files in DWARF 5. `forms` describes the entry's fields.
static const char *described_entry(reader *r, const line_texts *texts, reader forms,
                                   size_t offset_size, uint64_t *folder) {
    enum { PATH = 1, FOLDER = 2 };
    enum { TEXT = 0x08, OFFSET = 0x0E, NUMBER = 0x0F, DATA16 = 0x1E, LINE_OFFSET = 0x1F };
    const char *path = "";
    while (forms.at < forms.end) {
        uint64_t what = variable(&forms), form = variable(&forms), number = 0;
        const char *found = "";
        if (form == TEXT)
            found = text(r);
        else if (form == OFFSET)
            found = rl_text_at(texts->texts, fixed(r, offset_size));
        else if (form == LINE_OFFSET)
            found = rl_text_at(texts->line_texts, fixed(r, offset_size));
        else if (form == DATA16)
            next_bytes(r, 16);
        else if (form == NUMBER)
            number = variable(r);
        else
            r->at = r->end;
        if (what == PATH) path = found;
        if (what == FOLDER) *folder = number;
    }
    return path;
}

/// Returns the entry with a number in the next table, and advances the reader past that table.
static const char *described(reader *r, const line_texts *texts, size_t offset_size,
                             uint64_t number, uint64_t *folder) {
    uint64_t form_count = fixed(r, 1);
    reader forms = {r->at, r->at};
    for (uint64_t k = 0; k < 2 * form_count; k++) variable(r);
    forms.end = r->at;
    const char *found = "";
    uint64_t count = variable(r);
    for (uint64_t k = 0; k < count && r->at < r->end; k++) {
        uint64_t of = 0;
        const char *path = described_entry(r, texts, forms, offset_size, &of);
        if (k != number) continue;
        found = path;
        if (folder) *folder = of;
    }
    return found;
}

void rl_find_file(const line_texts *texts, const unit *u, uint32_t number, rl_line *line) {
    reader r = u->names;
    uint64_t folder = 0;
    line->file = line->folder = "";
    if (u->version >= 5) {
        described(&r, texts, u->offset_size, 0, NULL);
        line->file = described(&r, texts, u->offset_size, number, &folder);
        r = u->names;
        line->folder = described(&r, texts, u->offset_size, folder, NULL);
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

#endif
