// What each thread knows about itself, and how it leaves a body that will never finish.

#include "State/state.h"

#include "Platform/memory.h"

#include <string.h>

struct laboratory lab;
struct exploration rl_exploration;

const rl_part_of_run *rl_parts_of_run;

void rl_begin_state_of_run(void) {
    rl_discard_memory_of_run();
    for (const rl_part_of_run *p = rl_parts_of_run; p; p = p->next) memset(p->memory, 0, p->size);
    lab.run = (struct run){.last = NO_THREAD, .branch_limit = UINT32_MAX};
    const size_t size = RL_MAX_THREADS * sizeof *lab.run.threads;
    lab.run.threads = rl_allocate_in_run(size, "the threads of a run");
}

_Thread_local worker *me;
static _Thread_local int listening, ignoring;
_Thread_local int rl_active;

static void update_active(void) { rl_active = listening > 0 && ignoring == 0; }

void rl_listen(void) {
    if (me) me->body = RL_CALLER.stack;
    listening++;
    update_active();
}
void rl_deafen(void) {
    listening--;
    update_active();
}
void rl_ignore(void) {
    ignoring++;
    update_active();
}
void rl_attend(void) {
    ignoring--;
    update_active();
}
void rl_hear_no_more(void) { rl_active = listening = ignoring = 0; }
bool rl_is_ignoring(void) { return ignoring > 0; }

void rl_begin_own_work(void) {
    if (me) atomic_fetch_add(&lab.own_work, 1);
}

void rl_end_own_work(void) {
    if (me) atomic_fetch_sub(&lab.own_work, 1);
}

bool rl_on_lab_thread(void) { return me != NULL && me->thread >= 0; }
bool rl_is_of_lab(void) { return me != NULL; }
bool rl_is_between_runs_here(void) { return me && me->thread == NO_THREAD; }
bool rl_stands_for_main_thread(void) { return me && me->is_main; }

bool rl_stand_for_main_thread(bool is_main) {
    const bool before = me->is_main;
    me->is_main = is_main;
    return before;
}

bool rl_has_fault(unsigned fault) { return rl_exploration.scenario->faults & fault; }

bool rl_gives(unsigned liberty) {
    const rl_scenario *s = rl_exploration.scenario;
    if (s->liberties & liberty) return true;
    // An exact replay contains the time-outs and spurious wakeups of its schedule.
    return liberty != RL_LIBERTY_ANY_WAITER && s->schedule && !s->beyond;
}

bool rl_makes_progress(void) {
    if (me->fate != STAYS) return false;
    const uint64_t before = atomic_fetch_add(&lab.progress, RL_PROGRESS);
    if (!(before & RL_GIVEN_UP)) return true;
    me->fate = IS_LOST;
    return false;
}

// MARK: - Abandoning bodies

static void release_real_locks(thread *t) {
    while (t->held_count > 0) {
        held_lock held = t->held[--t->held_count];
        held.release(held.lock);
    }
}

/// The stack of the body is abandoned together with the worker. What the body held on the heap
/// leaks; that is the price of leaving a deadlock.
_Noreturn void rl_give_up(void) {
    rl_hear_no_more();
    // A lost thread may come back during another exploration, where its number belongs to another
    // thread.
    if (me->thread >= 0 && me->fate != IS_LOST) release_real_locks(my_thread());
    longjmp(me->landing->at, 1);
}

_Noreturn void rl_end_run_with(rl_status status) {
    lab.run.status = status;
    me->fate = ENDS_RUN;
    rl_give_up();
}

_Noreturn void rl_end_run_with_too_many_threads(void) {
    lab.run.misfit_thread = me->thread;
    rl_end_run_with(RL_TOO_MANY);
}

void rl_continue_giving_up(void) {
    if (me->fate != STAYS) rl_give_up();
}
