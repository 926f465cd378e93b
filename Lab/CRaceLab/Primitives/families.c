#include "Primitives/families.h"

#ifndef RL_WITHOUT_HOOKS

#include "Scheduler/outside.h"

uint32_t rl_unobserved_families;
static const char *names[RL_FAMILY_COUNT];
static rl_fault_of_family faults[RL_FAMILY_COUNT];

static void update(rl_family family) {
    const uint32_t bit = 1u << family;
    rl_unobserved_families &= ~bit;
    if (names[family] || faults[family] != RL_FAMILY_WORKS) rl_unobserved_families |= bit;
}

void rl_is_blind_to(rl_family family, const char *name) {
    names[family] = name;
    update(family);
}

void rl_disable_family(rl_family family, rl_fault_of_family fault) {
    faults[family] = fault;
    update(family);
}

bool rl_is_disabled(rl_family family, rl_place place) {
    if (faults[family] == RL_FAMILY_IS_BYPASSED) return true;
    if (names[family] && rl_is_call_of_program(&place))
        rl_meet_outside(names[family], rl_place_in_source(place));
    return faults[family] == RL_FAMILY_DOES_NOTHING;
}

library rl_runtime;
bool rl_may_control_tasks;

bool rl_is_of_tasks(uintptr_t pc) {
    return pc - rl_runtime.start < rl_runtime.end - rl_runtime.start;
}

bool rl_controls_tasks(void) {
    return rl_active && rl_may_control_tasks && me && me->thread >= 0 && me->fate == STAYS;
}

bool rl_is_by_program(rl_family family, rl_place place) {
    return rl_controls_tasks() && rl_is_under_test(place.pc) && rl_sees(family, place);
}

circumstance rl_circumstance(rl_family family, rl_place *place) {
    if (!rl_active && !me) return FOREIGN;
    if (!rl_active) return me->thread == NO_THREAD ? BETWEEN_RUNS : UNSEEN;
    if (rl_sees(family, *place) && rl_is_call_of_program(place)) return BY_PROGRAM;
    return rl_is_of_tasks(place->pc) && rl_controls_tasks() ? BY_RUNTIME : UNSEEN;
}

#endif
