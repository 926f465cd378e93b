// Decides which thread makes the next step: finds the enabled threads, follows the schedule, asks
// the search. The running thread decides at every point, and hands over only if another thread is
// next.

#include "Scheduler/scheduler.h"

#include "Model/deferred_release.h"
#include "Model/old_values.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Scheduler/operation.h"
#include "Scheduler/outside.h"
#include "Search/execution.h"
#include "Search/loop_trial.h"
#include "Search/reference_counts.h"
#include "Search/spinning.h"
#include "Search/waking.h"
#include "State/inputs.h"

// MARK: - Which threads are enabled

/// Whether its next step would succeed now.
static bool is_available(const thread *t) {
    return !t->operation->is_available || t->operation->is_available(t);
}

static bool is_woken(const thread *t) {
    return !t->operation->is_woken || t->operation->is_woken(t);
}

static bool would_go_on(const thread *t) { return t->operation->is_attempt || is_available(t); }

static bool can_go(const thread *t) {
    if (!t->started || t->finished || t->spinning || t->is_away || !is_woken(t)) return false;
    return would_go_on(t);
}

// MARK: - A last check before no thread is enabled

// A thread may spin on something that the lab cannot see. So before the engine reports a deadlock,
// every spinning thread runs its loop once more, without any alternatives. If none of them gets any
// further, these steps are removed from the run.

static void begin_looking(void) {
    if (lab.run.looks_again) return;
    lab.run.looks_again = lab.run.looks_in_vain = true;
    lab.run.looks_from = lab.run.step_count;
    lab.run.races_before_look = lab.run.race_count;
    rl_wake_all();
}

static int look_once_more(void) {
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (!t->spinning || t->has_looked) continue;
        t->spinning = false;
        t->has_looked = can_go(t);
        if (t->has_looked) {
            begin_looking();
            rl_runs_its_loop_again(t->sleeper ? t->sleeper : t);
            return i;
        }
        t->spinning = true;
    }
    return NO_THREAD;
}

static void stop_looking(void) {
    lab.run.looks_again = false;
    for (int i = 0; i < lab.run.thread_count; i++) lab.run.threads[i].has_looked = false;
}

static int32_t last_step_before(int index, uint32_t step) {
    while (step > 0 && lab.steps[step - 1].thread != index) step--;
    return (int32_t)step - 1;
}

static void take_back_looks(void) {
    if (!lab.run.looks_again) return;
    stop_looking();
    const uint32_t end = lab.run.looks_from;
    for (int i = 0; i < lab.run.thread_count; i++) {
        thread *t = &lab.run.threads[i];
        if (t->last_step < (int32_t)end) continue;
        t->last_step = last_step_before(i, end);
        t->unreported = false;
    }
    if (lab.run.step_count > end) lab.run.preemptions = lab.steps[end].preemptions;
    lab.run.last = end > 0 ? lab.steps[end - 1].thread : NO_THREAD;
    lab.run.step_count = end;
    lab.run.race_count = lab.run.races_before_look;
    rl_record_steps(end);
    rl_forget_steps_from(end);
    rl_forget_counts_from(end);
}

static void look_again(rl_thread_set *enabled) {
    const thread *last = lab.run.last >= 0 ? &lab.run.threads[lab.run.last] : NULL;
    if (lab.run.looks_again && last && last->finished && !last->sleeper)
        lab.run.looks_in_vain = false;
    if (lab.run.looks_again && !lab.run.looks_in_vain) stop_looking();
    if (*enabled) {
        if (lab.run.looks_again)
            *enabled = set_of(has(*enabled, lab.run.last) ? lab.run.last : __builtin_ctz(*enabled));
        return;
    }
    const int thread = look_once_more();
    if (thread != NO_THREAD)
        *enabled = set_of(thread);
    else
        take_back_looks();
}

// MARK: - The alternatives

/// The alternatives for the next step.
typedef struct {
    rl_alternatives could;
    rl_thread_set unfinished;  // if no thread is enabled
    bool time_is_up;           // no thread is enabled, so threads whose wait can time out are
    bool is_barrier;           // the alternatives exist only because no other thread is enabled
} situation;

/// Whether a thread looks at the clock in a loop, and can go on with that when time has passed.
static bool can_look_at_clock(const thread *t) { return rl_waits_for_time(t) && would_go_on(t); }

/// Whether a thread can give up a wait with a time-out. A thread that sleeps on a condition still
/// needs its lock back, and may have been woken in vain before.
static bool can_stop_waiting(const thread *t) {
    if (!t->started || t->finished || t->is_away || !t->timed) return false;
    return t->asleep ? is_available(t) : !t->spinning;
}

/// The same while other threads can continue. What is available is taken before its time is over.
static bool could_stop_waiting(const thread *t) {
    if (can_look_at_clock(t)) return true;
    return can_stop_waiting(t) && (t->asleep || !is_available(t));
}

static bool could_be_spurious(const thread *t) {
    return t->started && !t->finished && !t->spinning && t->asleep && is_available(t);
}

static rl_thread_set those_who(bool (*can)(const thread *)) {
    rl_thread_set set = 0;
    for (int i = 0; i < lab.run.thread_count; i++)
        if (can(&lab.run.threads[i])) set |= set_of(i);
    return set;
}

/// The threads whose waits end first, if no thread can go on.
static rl_thread_set first_to_stop_waiting(void) {
    uint64_t first = UINT64_MAX;
    const rl_thread_set waiting = those_who(can_stop_waiting);
    for (int i = 0; i < lab.run.thread_count; i++)
        if (has(waiting, i) && lab.run.threads[i].deadline < first)
            first = lab.run.threads[i].deadline;
    rl_thread_set set = 0;
    for (int i = 0; i < lab.run.thread_count; i++)
        if (has(waiting, i) && lab.run.threads[i].deadline - first < RL_SAME_MOMENT)
            set |= set_of(i);
    return set;
}

static bool is_unfinished(const thread *t) { return !t->finished; }

static bool waits_for_work(const thread *t) {
    return t->started && !t->finished && !t->is_away && t->operation->is_idle;
}

static bool can_be_early(const thread *t, int8_t *holder) {
    int8_t before;
    if (!rl_could_precede_release(t, &before) || !is_available(t)) return false;
    *holder = before;
    return true;
}

static bool is_attempt_that_can_be_early(const thread *t) {
    int8_t holder;
    return can_be_early(t, &holder);
}

static bool is_failing_attempt(const thread *t) {
    return t->started && !t->finished && t->operation->could_be_early && !is_available(t);
}

static situation look_at_threads(void) {
    situation now = {.could.enabled = those_who(can_go)};
    rl_alternatives *could = &now.could;
    look_again(&could->enabled);
    if (rl_is_trying()) {
        could->enabled &= rl_only_in_trial();
        could->early = could->enabled & those_who(is_attempt_that_can_be_early);
    } else if (!could->enabled) {
        now.unfinished = those_who(is_unfinished);
        could->enabled = first_to_stop_waiting() | those_who(can_look_at_clock);
        now.time_is_up = now.is_barrier = could->enabled;
    } else if (lab.run.looks_again) {
        now.is_barrier = true;
    } else {
        could->early = those_who(is_attempt_that_can_be_early) & could->enabled;
        could->failing = those_who(is_failing_attempt) & could->enabled;
        if (rl_gives(RL_LIBERTY_TIME_OUTS)) could->time_out = those_who(could_stop_waiting);
        if (rl_gives(RL_LIBERTY_SPURIOUS)) could->spurious = those_who(could_be_spurious);
    }
    return now;
}

// MARK: - Prescribed choices

/// The thread that makes a step; RL_EARLY, RL_TIME_OUT, RL_SPURIOUS or 0; and which store it reads,
/// if not the newest one.
typedef struct {
    int thread;
    uint8_t how;
    uint32_t store;
} choice;

static choice choice_of(int64_t number) {
    if (number == NO_THREAD) return (choice){NO_THREAD, 0, 0};
    const uint32_t all = (uint32_t)number;
    return (choice){rl_chosen_thread(all), rl_chosen_way(all), rl_chosen_store(all)};
}

/// Returns NO_THREAD if nothing is prescribed.
static choice prescribed(uint32_t step) {
    if (rl_is_trying() || !rl_exploration.current || step >= rl_exploration.current->length)
        return choice_of(NO_THREAD);
    return choice_of(rl_exploration.current->choices[step]);
}

static bool is_at_branch(uint32_t step) {
    return rl_exploration.current && step + 1 == rl_exploration.current->length;
}

/// A hash of the execution so far. It includes the enabled threads, because an execution in which a
/// thread ends earlier is a different one.
static uint64_t fingerprint(uint32_t step, rl_thread_set enabled) {
    const uint64_t now = (uint64_t)enabled << 16 | 1;
    if (step == 0) return now;
    const rl_step *last = &lab.steps[step - 1];
    const uint64_t store = last->reads * 0xC2B2AE3D27D4EB4Full;
    return now ^ (lab.fingerprints[step - 1] ^ last->pc ^ (uint64_t)rl_choice(last) << 56 ^ store ^
                  (uint64_t)last->kind << 48) *
                     0x9E3779B97F4A7C15ull;
}

/// Whether a prescribed choice is possible. An early attempt only needs an enabled thread here; see
/// `is_too_late`.
static bool can_be_made(choice c, const rl_alternatives *could) {
    if (c.store && (!has(could->enabled, c.thread) || !rl_may_read(c.thread, c.store)))
        return false;
    return has(c.how == RL_TIME_OUT   ? could->time_out
               : c.how == RL_SPURIOUS ? could->spurious
                                      : could->enabled,
               c.thread);
}

/// Whether an attempt that is prescribed as early can only come after the release.
static bool is_too_late(choice c, const rl_alternatives *could) {
    return c.how == RL_EARLY && has(could->enabled, c.thread) && !has(could->early, c.thread);
}

/// Whether the run deviates from a schedule that must be replayed exactly.
static bool misfits(choice c, const rl_alternatives *could) {
    if (!rl_exploration.scenario->schedule || rl_exploration.scenario->beyond) return false;
    if (lab.run.looks_again && c.thread == NO_THREAD) return false;
    return c.thread == NO_THREAD ? could->enabled != 0 : !can_be_made(c, could);
}

/// Whether a trial begins, because the choice is not possible: the thread only spins.
static bool tries_loop(choice c, const rl_alternatives *could) {
    const bool is_of_thread = c.thread != NO_THREAD && c.thread < lab.run.thread_count;
    if (!is_of_thread || lab.run.looks_again || can_be_made(c, could)) return false;
    return lab.run.threads[c.thread].spinning && rl_try_prescribed_loop(&lab.run.threads[c.thread]);
}

/// Returns RL_COMPLETE if the run continues or has ended normally.
static rl_status status_before(uint32_t step, choice c, const situation *now) {
    if (rl_is_trying()) return RL_COMPLETE;
    const bool is_prescribed = c.thread != NO_THREAD;
    if (misfits(c, &now->could)) return RL_MISFIT;
    if (!now->could.enabled) {
        if (is_prescribed && !rl_exploration.scenario->schedule) return RL_NOT_THE_SAME;
        return now->unfinished ? rl_deadlock_or_outside() : RL_COMPLETE;
    }
    const bool is_the_same = !is_at_branch(step) || !rl_exploration.current->fingerprint ||
                             rl_exploration.current->fingerprint == lab.fingerprints[step];
    const bool can_be_followed =
        !is_prescribed || (can_be_made(c, &now->could) && !is_too_late(c, &now->could));
    if (!is_the_same || !can_be_followed)
        return rl_exploration.scenario->schedule ? RL_MISFIT : RL_NOT_THE_SAME;
    return step >= rl_exploration.scenario->max_steps ? RL_TOO_LONG : RL_COMPLETE;
}

// MARK: - Choices of the search

static int lowest(rl_thread_set set) { return __builtin_ctz(set); }

/// Prepares the search for the next step, before a thread is chosen.
static void come_to_step(uint32_t step, const situation *now) {
    // Which threads may give up a wait depends on all other threads, so this step depends on every
    // other one.
    if (now->is_barrier && !lab.run.looks_again) rl_wake_all();
    if (now->time_is_up) rl_everything_is_released();
    if (is_at_branch(step)) rl_fall_asleep_at_branch();
    if (rl_reduces()) rl_come_to_node(&now->could, now->is_barrier);
}

/// Prefers the thread that made the last step: the search starts with the fewest context switches.
static choice go_on(uint32_t step, rl_thread_set enabled) {
    rl_thread_set useful = enabled & ~lab.run.sleeping;
    if (!useful) {
        // Every continuation is equivalent to one already explored, so the run is redundant.
        lab.run.redundant = true;
        if (step < lab.run.branch_limit) lab.run.branch_limit = step;
        rl_wake_all();
        useful = enabled;
    }
    return choice_of(has(useful, lab.run.last) ? lab.run.last : lowest(useful));
}

static choice chosen_by_sampler(uint32_t step, const situation *now) {
    const rl_view view = {now->could, rl_pending_steps(), lab.run.thread_count,
                          step,       lab.run.last,       lab.run.preemptions};
    choice c = choice_of(rl_sampled_choice(rl_exploration.current->sampler, &view));
    const uint32_t values = c.how ? 1 : rl_count_readable(c.thread);
    if (values > 1)
        c.store = rl_nth_readable(
            c.thread, rl_random_below(&rl_exploration.current->sampler->random, values));
    return c;
}

static choice chosen_in_trial(const rl_alternatives *could) {
    const int only = lowest(could->enabled);
    return (choice){only, has(could->early, only) ? RL_EARLY : 0, 0};
}

/// Whether a step can read the store that the search wishes, and reading it has not been explored.
static bool is_new(choice c) {
    return c.store > lab.run.slept[c.thread] && rl_may_read(c.thread, c.store);
}

static choice chosen_by_search(uint32_t step, const rl_alternatives *could) {
    choice wished = choice_of(rl_reduces() ? rl_wished_choice() : NO_THREAD);
    while (wished.store && !is_new(wished)) wished = choice_of(rl_wished_choice());
    if (wished.thread == NO_THREAD) return go_on(step, could->enabled);
    if (wished.how && wished.how != RL_EARLY) rl_wake_all();
    // If another thread holds the lock, the attempt fails without being early.
    if (wished.how == RL_EARLY && !has(could->early, wished.thread)) wished.how = 0;
    return wished;
}

// MARK: - Recording the step

static void make_room_for_step(void) {
    if (lab.run.step_count < lab.step_capacity) return;
    uint32_t wanted = lab.step_capacity ? 2 * lab.step_capacity : 256;
    lab.steps = rl_grown(lab.steps, lab.run.step_count, wanted, sizeof *lab.steps);
    lab.fingerprints =
        rl_grown(lab.fingerprints, lab.run.step_count, wanted, sizeof *lab.fingerprints);
    lab.step_capacity = wanted;
}

/// Makes an early attempt: it comes before another thread's release.
static void come_early(thread *t, rl_step *record) {
    t->early = can_be_early(t, &record->before);
    RL_REQUIRE(t->early, "an early attempt misses no release");
    t->missed = t->waits_for;
}

/// A loop that reads the clock sees that its time is over.
static void let_time_pass(void) {
    const rl_thread_set waiting = those_who(rl_waits_for_time);
    rl_time_jumps();
    for (int i = 0; i < lab.run.thread_count; i++)
        if (has(waiting, i)) rl_forget_visits(&lab.run.threads[i]);
}

static void record(uint32_t step, choice c, const situation *now) {
    const rl_alternatives *could = &now->could;
    const bool is_early = c.how == RL_EARLY;
    lab.steps[step] = (rl_step){.thread = (uint8_t)c.thread,
                                .enabled = could->enabled,
                                .sleeping = lab.run.sleeping,
                                .could_be_early = could->early,
                                .early = is_early,
                                .before = NO_THREAD,
                                .resumes = NO_THREAD,
                                .holder = NO_THREAD,
                                .unprompted = is_early ? 0 : c.how,
                                .could_time_out = could->time_out,
                                .could_be_spurious = could->spurious,
                                .preemptions = lab.run.preemptions};
    thread *t = &lab.run.threads[c.thread];
    const bool is_time_over = now->time_is_up || c.how == RL_TIME_OUT;
    if (is_time_over && rl_waits_for_time(t)) let_time_pass();
    t->timed_out = t->timed && is_time_over;
    t->is_spurious = c.how == RL_SPURIOUS;
    t->early = false;
    rl_choose_store(c.thread, c.store, &lab.steps[step]);
    lab.run.slept[c.thread] = 0;
    lab.run.asleep_early &= ~set_of(c.thread);
    if (is_early) come_early(t, &lab.steps[step]);
    if (c.thread != lab.run.last && has(could->enabled, lab.run.last)) lab.run.preemptions++;
    lab.run.last = c.thread;
    rl_follow_orders(c.thread);
    rl_record_steps(++lab.run.step_count);
}

// MARK: - The decision

/// Whether only workers without work are left. They end one after another, without steps.
static bool only_idle_workers_are_left(const situation *now) {
    return !now->could.enabled && now->unfinished && now->unfinished == those_who(waits_for_work);
}

static int end_idle_worker(rl_thread_set workers) {
    const int worker = lowest(workers);
    lab.run.threads[worker].idle = true;
    return worker;
}

static int end_run(uint32_t step, choice c, const situation *now) {
    lab.run.misfit_step = step;
    lab.run.misfit_thread = c.thread;
    lab.run.misfit_early = is_too_late(c, &now->could);
    return NO_THREAD;
}

/// Whether the steps so far are an interleaving that is known to crash the process.
static bool is_known_to_crash(void) {
    for (size_t i = 0; i < rl_exploration.scenario->crash_count; i++) {
        const rl_crash *crash = &rl_exploration.scenario->crashes[i];
        if (crash->length != lab.run.step_count) continue;
        uint32_t same = 0;
        while (same < crash->length && rl_choice(&lab.steps[same]) == crash->schedule[same]) same++;
        if (same == crash->length) return true;
    }
    return false;
}

int rl_decide(void) {
    RL_REQUIRE(lab.running == me, "a thread decides although it is not its turn");
    RL_REQUIRE(lab.run.status == RL_COMPLETE, "a run that has ended goes on");
    situation now = look_at_threads();
    choice next = prescribed(lab.run.step_count);
    if (tries_loop(next, &now.could)) {
        next = choice_of(NO_THREAD);
        now = look_at_threads();
    }
    if (rl_is_trying() && rl_ends_trial(now.could.enabled)) {
        // Any status that ends the run: the exploration starts over (`has_more_steps`).
        lab.run.status = RL_TOO_LONG;
        return NO_THREAD;
    }
    const uint32_t step = lab.run.step_count;
    make_room_for_step();
    lab.fingerprints[step] = fingerprint(step, now.could.enabled);
    come_to_step(step, &now);

    const bool is_prescribed = next.thread != NO_THREAD;
    if (!is_prescribed && only_idle_workers_are_left(&now)) return end_idle_worker(now.unfinished);
    lab.run.status = status_before(step, next, &now);
    if (lab.run.status != RL_COMPLETE || !now.could.enabled) return end_run(step, next, &now);
    const bool is_sampled = rl_exploration.current && rl_exploration.current->sampler;
    if (rl_is_trying())
        next = chosen_in_trial(&now.could);
    else if (!is_prescribed)
        next = is_sampled ? chosen_by_sampler(step, &now) : chosen_by_search(step, &now.could);

    record(step, next, &now);
    if (!is_known_to_crash()) return next.thread;
    lab.run.status = RL_CRASHES;
    lab.run.redundant = false;
    return NO_THREAD;
}
