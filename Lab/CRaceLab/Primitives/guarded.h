// A variable that a library guards with a lock of its own, which makes no calls.

#pragma once

#include "Model/happens_before.h"
#include "Scheduler/operation.h"
#include "State/shadow.h"

/// What a thread did before it changed the variable comes before what follows a look at it. Two
/// threads that only look are not ordered.
static void look_at_guarded(thread *t) {
    rl_join_clock(&t->clock, &rl_lock_at(t->address)->released);
}

static void change_guarded(thread *t) {
    look_at_guarded(t);
    rl_join_clock(&rl_lock_at(t->address)->released, &t->clock);
    rl_tick(me->thread);
}

static const rl_operation read_guarded = {.kind = RL_ATOMIC_READ, .carry_out = look_at_guarded};
static const rl_operation set_guarded = {.kind = RL_ATOMIC_WRITE, .carry_out = change_guarded};
