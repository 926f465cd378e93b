// The dependence relation between steps.

#include "Search/dependence.h"

#ifndef RL_WITHOUT_HOOKS

bool rl_only_reads(uint8_t kind) {
    return kind == RL_READ || kind == RL_ATOMIC_READ || kind == RL_AWAIT || kind == RL_TRY_AWAIT ||
           kind == RL_LOOK || kind == RL_ASK;
}

bool rl_are_dependent(uint8_t kind, uintptr_t address, uint8_t other, uintptr_t other_address) {
    // If the end of a task cancels others, that is an effect of its own (rl_look_for_cancelled_children).
    const bool is_end = kind == RL_FINISH || other == RL_FINISH;
    const bool is_like_end = (kind == RL_FINISH || kind == RL_ASK) && (other == RL_FINISH || other == RL_ASK);
    if (is_end && is_like_end) return false;
    return address == other_address && !(rl_only_reads(kind) && rl_only_reads(other));
}

bool rl_is_lasting(uint8_t kind) {
    switch (kind) {
        case RL_MODIFY:
        case RL_ATOMIC_WRITE:
        case RL_NOTE:
        case RL_ACQUIRE:
        case RL_TRY_ACQUIRE:
        case RL_SIGNAL:
        case RL_START:
        case RL_SEND:
        case RL_RECEIVE:
        case RL_ENTER:
        case RL_LEAVE:
        case RL_NOTIFY:
        case RL_ARRIVE:
        case RL_RESUME:
        case RL_FINISH:
        case RL_CANCEL:
        case RL_ELAPSE:
            return true;
        default:
            return false;
    }
}

#endif
