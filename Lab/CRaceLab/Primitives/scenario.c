// Steps that the Swift half makes: notes, and sending to a queue of the scenario.

#include "Platform/build.h"

#ifndef RL_WITHOUT_HOOKS

#include "Model/happens_before.h"
#include "Primitives/points.h"
#include "State/shadow.h"

static bool has_item(const thread *t) { return t->waits_for->count > 0; }

static void add_item(thread *t) { rl_lock_at(t->address)->count++; }

static void take_item(thread *t) { t->waits_for->count--; }

static const rl_operation send = {.kind = RL_SEND, .carry_out = add_item};
static const rl_operation receive = {.kind = RL_RECEIVE,
                                     .has_record = true,
                                     .is_idle = true,
                                     .is_available = has_item,
                                     .carry_out = take_item};
static const rl_operation note = {.kind = RL_NOTE};

uint32_t rl_note(const void *place) {
    if (!rl_active) return UINT32_MAX;
    const uint32_t step = rl_point(&note, place, RL_CALLER);
    lab.run.noted_under_lock |= my_thread()->locks_held > 0;
    return step;
}

bool rl_noted_under_lock(void) { return lab.run.noted_under_lock; }

/// The call site of the function that called the function with this frame. Swift code keeps frame
/// pointers.
static rl_place caller_of_caller(void *frame) {
    uintptr_t *caller = *(uintptr_t **)frame;
    return (rl_place){caller[1], (uintptr_t)(caller + 2)};
}

void rl_send(const void *queue, const void *item) {
    if (!me) return;
    rl_place place = caller_of_caller(__builtin_frame_address(0));
    if (rl_active)
        rl_point(&send, queue, place);
    else
        rl_lock_at((uintptr_t)queue)->count++;
    rl_hand_down(item, place.pc);
}

bool rl_await(const void *queue) {
    rl_place place = RL_CALLER;
    place.pc = 0;
    return rl_active && rl_point(&receive, queue, place) != UINT32_MAX;
}

#endif
