// Families of entry points, whether the lab observes them with the installed toolchain, and for whom
// one is called. The Swift half learns what is observed from tiny programs whose outcomes are known.

#pragma once

#include "Primitives/plain_memory.h"
#include "Symbols/call_sites.h"

/// A bit for each family that the lab does not observe, or that a test has disabled.
extern uint32_t rl_unobserved_families;
bool rl_is_disabled(rl_family family, rl_place place);

/// Whether the lab handles a call of an entry point of this family. If it does not observe the
/// family, a call by the code under test ends the run.
static inline bool rl_sees(rl_family family, rl_place place) {
    if (!rl_active) return false;
    return !(rl_unobserved_families >> family & 1) || !rl_is_disabled(family, place);
}

/// For whom an entry point is called.
typedef enum {
    FOREIGN,       // a thread that is not a lab thread
    UNSEEN,        // on a lab thread, code that the lab ignores, or a library for itself
    BETWEEN_RUNS,  // the code that sets up a scenario or judges a run
    BY_PROGRAM,    // the code under test, during a run
    BY_RUNTIME,    // the runtime of a task, during a run
} circumstance;

/// The family of an entry point that the lab handles in any case.
enum { NO_FAMILY = RL_FAMILY_COUNT };

/// Returns for whom an entry point is called. If BY_PROGRAM, moves `*place` up the stack to the code
/// under test.
circumstance rl_circumstance(rl_family family, rl_place *place);
/// Whether the lab has to know of such a call.
static inline bool is_handled(circumstance c) { return c == BY_PROGRAM || c == BETWEEN_RUNS; }

/// Begins an entry point: declares where and for whom it is called. FAMILY is that of the file.
#define CALLED_AT(place, now)   \
    rl_place place = RL_CALLER; \
    const circumstance now = rl_circumstance(FAMILY, &place)

/// The same in a function that is called on a lock or a condition.
#define CALLED_ON(variable, place, now) \
    CALLED_AT(place, now);              \
    if (now == BY_PROGRAM) rl_is_used_as_lock(variable, place)

/// The library of tasks, and whether its tasks can be controlled, once the lab has found that out.
extern library rl_runtime;
extern bool rl_may_control_tasks;
/// Whether the code at an address belongs to that library.
bool rl_is_of_tasks(uintptr_t pc);
/// Whether the lab controls the tasks on this thread.
bool rl_controls_tasks(void);
/// Whether the code under test itself makes the call, on a thread that the lab controls.
bool rl_is_by_program(rl_family family, rl_place place);
