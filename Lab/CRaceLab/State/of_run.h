// State that is made anew for each run.

#pragma once

#include <stddef.h>

/// State of one run that a single file uses. It is zero when the run begins.
typedef struct rl_part_of_run {
    void *memory;
    size_t size;
    const struct rl_part_of_run *next;
} rl_part_of_run;

/// A list of them. Complete before the program begins.
extern const rl_part_of_run *rl_parts_of_run;

#define RL_OF_RUN(variable)                                                                 \
    static rl_part_of_run part_##variable = {.memory = &variable, .size = sizeof variable}; \
    __attribute__((constructor)) static void add_##variable(void) {                         \
        part_##variable.next = rl_parts_of_run;                                             \
        rl_parts_of_run = &part_##variable;                                                 \
    }

/// Begins the state of a run: everything is forgotten that is known of the run before.
void rl_begin_state_of_run(void);
