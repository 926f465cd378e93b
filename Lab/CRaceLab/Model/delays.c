// Which of two delays ends first: those of tasks that sleep, and of work that is sent to come later.
//
// The lab assumes nothing about how long threads take. So either of two delays that begin
// independently may end first, whatever their lengths: the shorter one may have begun later. But a
// delay that begins after another one has begun, and whose time is later, also ends later.
//
// When a delay ends, the clock advances. Tasks that only sleep do not notice. But if the code under
// test also reads the clock, the order of unrelated delays matters. So once a run has shown both,
// the exploration starts over.

#include "Model/delays.h"

#include "Model/happens_before.h"
#include "Platform/memory.h"
#include "Search/execution.h"
#include "Search/loop_trial.h"

typedef struct {
    thread *sleeper;
    rl_moment begun, ended;
    uint32_t ended_in;  // how many steps there were when it had ended; 0: it has not
    uint64_t length;
    uint64_t time;   // of the clock, when it is over …
    uint64_t slept;  // … and what `clock.slept` is then
    bool is_of_task;
} delay;

static struct {
    delay *all;
    size_t count, capacity;
    bool has_sleeping_tasks, clock_is_read;
} delays;

RL_OF_RUN(delays)

// MARK: - Whether the time makes a difference

static void look_at_time(void) {
    if (!delays.has_sleeping_tasks || !delays.clock_is_read) return;
    if (rl_exploration.scenario->matters.time || !rl_reduces()) return;
    rl_exploration.summary.matters.time = true;
    lab.run.has_more_steps = true;
}

void rl_note_clock_read(void) {
    delays.clock_is_read = true;
    look_at_time();
}

// MARK: - Beginning and end

static rl_moment now(void) {
    if (me->thread == NO_THREAD) return (rl_moment){NO_THREAD, 0};
    return (rl_moment){(int8_t)me->thread, my_thread()->clock.at[me->thread]};
}

/// Whether the beginning or end of a delay comes before what the calling thread does now.
static bool knows(rl_moment moment) { return moment.thread == NO_THREAD || rl_knows(moment); }

/// Whether an earlier delay must end before one that begins now. Two sleeping tasks are compared by
/// how long they sleep: when they fall asleep depends on unrelated threads, unless the clock is read.
static bool is_over_before(const delay *earlier, const delay *new) {
    return earlier->is_of_task && new->is_of_task ? earlier->length < new->length
                                                  : earlier->time < new->time;
}

void rl_begin_delay(thread *sleeper, uint64_t time) {
    const uint64_t length = time > lab.run.time ? time - lab.run.time : 0;
    const uint64_t slept = me->thread == NO_THREAD ? 0 : my_thread()->clock.slept;
    const delay new = {.sleeper = sleeper,
                       .begun = now(),
                       .length = length,
                       .time = time,
                       .slept = slept + length,
                       .is_of_task = sleeper->kind == RL_ELAPSE};
    sleeper->ends_after = 0;
    for (const delay *d = delays.all; d < delays.all + delays.count; d++) {
        if (!knows(d->begun) || !is_over_before(d, &new)) continue;
        if (d->ended_in == 0)
            sleeper->ends_after |= set_of((int)(d->sleeper - lab.run.threads));
        else if (!knows(d->ended))
            rl_note_order_from(d->ended_in, (int)(sleeper - lab.run.threads));
    }
    MAKE_ROOM(delays.all, delays.count, delays.capacity, 16);
    sleeper->delay = (uint32_t)delays.count;
    delays.all[delays.count++] = new;
    delays.has_sleeping_tasks |= new.is_of_task;
    look_at_time();
}

bool rl_can_end_delay(const thread *sleeper) {
    for (rl_thread_set rest = sleeper->ends_after; rest; rest &= rest - 1) {
        const int i = __builtin_ctz(rest);
        if (rl_is_trying() && !has(rl_only_in_trial(), i)) continue;
        if (!lab.run.threads[i].spinning) return false;
    }
    return true;
}

void rl_end_delay(void) {
    thread *t = my_thread();
    delay *d = &delays.all[t->delay];
    d->ended = now();
    d->ended_in = lab.run.step_count;
    // For work, `rl_wait_until` has done that, up to a limit.
    if (d->is_of_task && d->time > lab.run.time) lab.run.time = d->time;
    if (d->slept > t->clock.slept) t->clock.slept = d->slept;
    for (int i = 0; i < lab.run.thread_count; i++) {
        if (!has(lab.run.threads[i].ends_after, me->thread)) continue;
        lab.run.threads[i].ends_after &= ~set_of(me->thread);
        rl_note_order(i);
    }
}
