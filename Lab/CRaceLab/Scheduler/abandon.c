// The end of bodies that are abandoned.

#include "Scheduler/scheduler.h"

#ifndef RL_WITHOUT_HOOKS

#include "Scheduler/observe.h"

void rl_meet_fate(void) {
    if (me->fate == ENDS_RUN) rl_assign(ENGINE);
    if (me->fate == IS_DISMISSED) rl_unpark(&lab.gone);
    if (me->fate == OBSERVES_NO_MORE) rl_end_observation();
}

void rl_dismiss_the_rest(void) {
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (!t->started || t->finished || !t->on || t->on->fate != STAYS) continue;
        t->on->fate = IS_DISMISSED;
        rl_unpark(&t->on->turn);
        // The thread's real locks must be free before another thread continues.
        rl_park(&lab.gone, NULL);
    }
}

#endif
