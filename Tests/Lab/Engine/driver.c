// A depth-first search over every choice.

#include "driver.h"

#include <stdlib.h>
#include <string.h>

/// A run that is still to be made, and those found before it.
typedef struct branch {
    struct branch *next;
    uint64_t fingerprint;
    uint32_t length;
    uint32_t choices[];
} branch;

static branch *branches, *current;
static int most_preemptions;

static void add(const rl_execution *run, uint32_t k, uint32_t choice) {
    const rl_step *step = &run->steps[k];
    const int before = k > 0 ? run->steps[k - 1].thread : -1;
    const bool preempts =
        before >= 0 && rl_chosen_thread(choice) != before && step->enabled >> before & 1;
    if (most_preemptions >= 0 && step->preemptions + preempts > (uint32_t)most_preemptions) return;
    branch *b = malloc(sizeof *b + (k + 1) * sizeof *b->choices);
    b->next = branches;
    b->fingerprint = run->fingerprints[k];
    b->length = k + 1;
    for (uint32_t i = 0; i < k; i++) b->choices[i] = rl_choice(&run->steps[i]);
    b->choices[k] = choice;
    branches = b;
}

static bool learn(void *context, const rl_execution *run) {
    (void)context;
    for (uint32_t k = run->prescribed; k < run->step_count; k++) {
        const rl_step *step = &run->steps[k];
        for (int i = 0; i < run->thread_count; i++) {
            const rl_thread_set one = (rl_thread_set)1 << i;
            if (step->enabled & one && i != step->thread) add(run, k, (uint32_t)i);
            if (step->could_be_early & one) add(run, k, (uint32_t)(i | RL_EARLY));
            if (step->could_time_out & one) add(run, k, (uint32_t)(i | RL_TIME_OUT));
            if (step->could_be_spurious & one) add(run, k, (uint32_t)(i | RL_SPURIOUS));
        }
    }
    return true;
}

static bool choose(void *context, rl_plan *plan) {
    (void)context;
    free(current);
    current = branches;
    if (!current) return false;
    branches = current->next;
    plan->choices = current->choices;
    plan->length = current->length;
    plan->fingerprint = current->fingerprint;
    return true;
}

void drive(rl_scenario *scenario, int max_preemptions) {
    // An exploration that reached a bound leaves branches behind.
    for (rl_plan rest; choose(NULL, &rest);) {
    }
    most_preemptions = max_preemptions;
    scenario->learn = learn;
    scenario->choose = choose;
}
