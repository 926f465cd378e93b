// What a run gets from outside, made the same for every run: random numbers, the time, and the order
// of sets and dictionaries.
//
// Time stands still. Otherwise the speed of the processor would decide whether a deadline has
// passed. It passes when a thread or task sleeps, when a wait times out, when delayed work arrives, and
// when a thread does nothing but read the clock.

#include "State/inputs.h"

#include <string.h>

static const uint64_t hour = 3600ull * 1000 * 1000 * 1000;
/// The first jumps are short; then they become longer. After the last one, years have passed.
enum { SHORT_JUMPS = 20, MOST_JUMPS = 25 };

/// By the code that sets up or judges a run.
static struct { uint64_t draws, clock_reads; } between_runs;

RL_OF_RUN(between_runs)

bool rl_runs_scenario(void) {
    return me && me->fate == STAYS && !rl_is_ignoring() && (rl_active || rl_is_between_runs_here());
}

void rl_draw(void *memory, size_t size) {
    rl_exploration.summary.has_random_numbers = true;
    const bool is_between_runs = me->thread == NO_THREAD;
    uint64_t *count = is_between_runs ? &between_runs.draws : &lab.run.threads[me->thread].draws;
    const uint64_t by = is_between_runs ? 0 : lab.run.threads[me->thread].origin.name;
    const uint64_t sequence = rl_mix(rl_exploration.scenario->seed * 64 + by + 1);
    for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
        const uint64_t number = rl_mix(sequence + ++*count * 0x9E3779B97F4A7C15ull);
        const size_t rest = size - done;
        memcpy((char *)memory + done, &number, rest < sizeof number ? rest : sizeof number);
    }
}

void rl_time_jumps(void) {
    uint64_t length = hour;
    if (lab.run.jumps < MOST_JUMPS) {
        for (int i = SHORT_JUMPS; i < lab.run.jumps; i++) length *= 24;
        lab.run.jumps++;
    }
    lab.run.time += length;
}

uint64_t rl_read_clock(void) {
    const uint64_t most_reads = 1000;
    if (me->thread == NO_THREAD) {
        if (++between_runs.clock_reads % most_reads == 0) rl_time_jumps();
        return lab.run.time;
    }
    thread *t = &lab.run.threads[me->thread];
    t->clock_reads = t->clock_read_at == t->accesses ? t->clock_reads + 1 : 1;
    t->clock_read_at = t->accesses;
    if (t->clock_reads % most_reads == 0) rl_time_jumps();
    return lab.run.time;
}

bool rl_waits_for_time(const thread *t) {
    const bool reads = t->clock_reads > 0 && t->clock_read_at >= t->round_began;
    return t->started && !t->finished && !t->is_away && t->spinning && reads &&
           lab.run.jumps < MOST_JUMPS;
}

// MARK: - The order of sets and dictionaries

// By default the standard library randomizes it, so a lock chosen by iteration order would differ
// from run to run.

#ifndef RL_WITHOUT_HOOKS

typedef struct {
    uint64_t first_seed, second_seed;
    bool is_deterministic;  // if false, each table's seed is its address
} hashing_parameters;

extern hashing_parameters _swift_stdlib_Hashing_parameters;

/// Has the same effect as SWIFT_DETERMINISTIC_HASHING in the environment. Runs before anything is
/// hashed: a change of seed would break existing tables.
__attribute__((constructor)) static void make_hashing_deterministic(void) {
    _swift_stdlib_Hashing_parameters = (hashing_parameters){.is_deterministic = true};
}

#endif
