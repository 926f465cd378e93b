#include "Search/execution.h"

#include "Platform/memory.h"
#include "Search/reference_counts.h"
#include "State/inputs.h"
#include "State/shadow.h"

#include <string.h>

/// A row for each step, like `lab.steps`.
static struct {
    rl_node *nodes;
    rl_pending *pending;
    uint8_t *kinds;
    uint32_t *slept;
    size_t capacity;
} rows;

static struct {
    rl_effect *effects;
    size_t effect_count, effect_capacity;
    rl_order *orders;
    size_t order_count, order_capacity;
    rl_other_value *values;
    size_t value_count, value_capacity;
    uint32_t wishes;        // the wishes for the next step
    bool liberties_matter;  // see `rl_execution`
} execution;

RL_OF_RUN(execution)

bool rl_reduces(void) {
    const rl_scenario *s = rl_exploration.scenario;
    return s->reduce && (!s->schedule || s->beyond);
}

// MARK: - During a run

void rl_begin_execution(void) {
    execution.wishes = rl_exploration.current ? rl_exploration.current->first_wish : 0;
}

static void make_room_for_node(uint32_t step) {
    if (step < rows.capacity) return;
    const size_t old = rows.capacity, wanted = old ? 2 * old : 256;
    const size_t each = RL_MAX_THREADS;
    rows.nodes = rl_grown(rows.nodes, old, wanted, sizeof *rows.nodes);
    rows.pending = rl_grown(rows.pending, old * each, wanted * each, sizeof *rows.pending);
    rows.kinds = rl_grown(rows.kinds, old * each, wanted * each, sizeof *rows.kinds);
    rows.slept = rl_grown(rows.slept, old * each, wanted * each, sizeof *rows.slept);
    rows.capacity = wanted;
}

void rl_come_to_node(const rl_alternatives *could, bool is_barrier) {
    const uint32_t step = lab.run.step_count;
    make_room_for_node(step);
    rl_node *n = &rows.nodes[step];
    *n = (rl_node){.could = *could,
                   .sleeping = lab.run.sleeping,
                   .asleep_early = lab.run.asleep_early,
                   .in_runtime = lab.run.sleeping_in_runtime,
                   .is_barrier = is_barrier,
                   .first_effect = (uint32_t)execution.effect_count};
    if (!rl_exploration.current || step >= rl_exploration.current->length) {
        n->wishes = execution.wishes;
        execution.wishes = 0;
    }
    const size_t row = (size_t)step * RL_MAX_THREADS;
    if (lab.run.sleeping)
        memcpy(&rows.kinds[row], lab.run.sleeping_kinds, sizeof lab.run.sleeping_kinds);
    if (rl_exploration.scenario->keeps_stores)
        memcpy(&rows.slept[row], lab.run.slept, sizeof lab.run.slept);
    for (int i = 0; i < lab.run.thread_count; i++) {
        const thread *t = &lab.run.threads[i];
        const bool waits = t->started && !t->is_away && (!t->finished || t->idle);
        const bool is_spinning = !waits || t->spinning || t->has_looked;
        rows.pending[row + (size_t)i] =
            (rl_pending){waits ? t->address : 0, t->pc, t->kind, waits, is_spinning};
        if (t->timed || t->asleep || rl_waits_for_time(t)) execution.liberties_matter = true;
    }
}

const rl_pending *rl_pending_steps(void) {
    return &rows.pending[(size_t)lab.run.step_count * RL_MAX_THREADS];
}

void rl_fall_asleep_at_branch(void) {
    lab.run.sleeping = rl_exploration.current->sleeping;
    lab.run.asleep_early = rl_exploration.current->asleep_early;
    lab.run.sleeping_in_runtime = rl_exploration.current->in_runtime;
    if (rl_exploration.current->kinds)
        memcpy(lab.run.sleeping_kinds, rl_exploration.current->kinds,
               sizeof lab.run.sleeping_kinds);
    if (rl_exploration.current->slept)
        memcpy(lab.run.slept, rl_exploration.current->slept, sizeof lab.run.slept);
}

static int thread_named(uint64_t name) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (lab.run.threads[i].origin.name == name) return i;
    return NO_THREAD;
}

int64_t rl_wished_choice(void) {
    rl_node *n = &rows.nodes[lab.run.step_count];
    while (n->wishes) {
        const rl_wish *wish = &rl_exploration.current->wishes[n->wishes];
        n->wishes = wish->next;
        const int thread = thread_named(wish->choice.name);
        if (thread == NO_THREAD) continue;
        const uint32_t choice = wish->choice.of_thread_0 | (uint32_t)thread;
        if (!rl_is_possible(choice, &n->could, n->sleeping, n->asleep_early)) continue;
        execution.wishes = wish->child;
        return choice;
    }
    return NO_THREAD;
}

void rl_follow_orders(int thread) {
    for (size_t k = 0; k < execution.order_count; k++) {
        rl_order *o = &execution.orders[k];
        if (o->thread == thread && o->to == RL_UNKNOWN) o->to = lab.run.step_count;
    }
}

void rl_note_effect(uint8_t kind, uintptr_t address, uint8_t free_for) {
    if (lab.run.step_count == 0 || !rl_reduces()) return;
    MAKE_ROOM(execution.effects, execution.effect_count, execution.effect_capacity, 256);
    execution.effects[execution.effect_count++] =
        (rl_effect){.address = address, .kind = kind, .free_for = free_for};
}

void rl_note_store_of_effect(uint32_t store, uint64_t value) {
    if (lab.run.step_count == 0 || !rl_reduces()) return;
    rl_effect *e = &execution.effects[execution.effect_count - 1];
    e->store = store;
    e->value = value;
}

void rl_note_other_value(uint32_t choice) {
    MAKE_ROOM(execution.values, execution.value_count, execution.value_capacity, 64);
    execution.values[execution.value_count++] = (rl_other_value){lab.run.step_count, choice};
}

void rl_note_runtime(void) {
    if (lab.run.step_count > 0 && rl_reduces())
        rows.nodes[lab.run.step_count - 1].is_in_runtime = true;
}

static void add_order(rl_order order) {
    MAKE_ROOM(execution.orders, execution.order_count, execution.order_capacity, 64);
    execution.orders[execution.order_count++] = order;
}

void rl_note_order(int thread) { rl_note_order_from(lab.run.step_count, thread); }

void rl_note_order_from(uint32_t step_count, int thread) {
    if (step_count == 0 || !rl_reduces()) return;
    add_order((rl_order){step_count - 1, RL_UNKNOWN, lab.run.step_count - 1, thread});
}

void rl_note_wait(uint32_t step) {
    if (!rl_reduces()) return;
    const uint32_t current = lab.run.step_count - 1;
    const int thread = lab.steps[current].thread;
    // The steps of the thread before this one did not wait.
    uint32_t since = current - 1;
    while (since > step && lab.steps[since].thread != thread) since--;
    add_order((rl_order){step, current, since, thread});
}

void rl_forget_steps_from(uint32_t step) {
    while (execution.value_count > 0 && execution.values[execution.value_count - 1].step >= step)
        execution.value_count--;
    if (!rl_reduces() || step >= rows.capacity) return;
    execution.effect_count = rows.nodes[step].first_effect;
    size_t kept = 0;
    for (size_t k = 0; k < execution.order_count; k++)
        if (execution.orders[k].since < step) execution.orders[kept++] = execution.orders[k];
    execution.order_count = kept;
    for (size_t k = 0; k < execution.order_count; k++)
        if (execution.orders[k].to >= step) execution.orders[k].to = RL_UNKNOWN;
}

// MARK: - Between two runs

/// If the order in which groups were entered and left does not show, that is known only now.
static void forget_order_in_groups(void) {
    const rl_known_counts *known = rl_exploration.scenario->counts;
    if (lab.run.group_order_shows || (known && known->group_order_shows)) return;
    for (size_t k = 0; k < execution.effect_count; k++) {
        rl_effect *e = &execution.effects[k];
        if (e->kind != RL_ENTER && e->kind != RL_LEAVE) continue;
        const lock *group = rl_known_lock(e->address);
        if (group && !group->is_of_item && !(e->kind == RL_LEAVE && e->free_for & RL_LAST_ONE))
            e->kind = rl_without_order(e->kind);
    }
}

bool rl_learn(void) {
    if (!rl_exploration.scenario->learn) return true;
    if (rl_reduces()) {
        make_room_for_node(lab.run.step_count);
        forget_order_in_groups();
    }
    static rl_execution run;
    static rl_origin origins[RL_MAX_THREADS];
    run = (rl_execution){
        .status = lab.run.status,
        .thread_count = lab.run.thread_count,
        .origins = origins,
        .step_count = lab.run.step_count,
        .prescribed = rl_exploration.current ? rl_exploration.current->length : 0,
        .limit = lab.run.branch_limit,
        .steps = lab.steps,
        .fingerprints = lab.fingerprints,
        .nodes = rows.nodes,
        .pending = rows.pending,
        .kinds = rows.kinds,
        .effects = execution.effects,
        .slept = rl_exploration.scenario->keeps_stores ? rows.slept : NULL,
        .values = execution.values,
        .value_count = (uint32_t)execution.value_count,
        .effect_count = (uint32_t)execution.effect_count,
        .orders = execution.orders,
        .order_count = (uint32_t)execution.order_count,
        .liberties_matter = execution.liberties_matter,
        .group_order_shows = lab.run.group_order_shows,
    };
    for (int i = 0; i < lab.run.thread_count; i++) {
        origins[i] = lab.run.threads[i].origin;
        if (lab.run.threads[i].is_task) run.tasks |= set_of(i);
        if (lab.run.threads[i].finished) run.finished |= set_of(i);
    }
    rl_add_counts(&run);
    return rl_exploration.scenario->learn(rl_exploration.scenario->context, &run);
}

static rl_plan next;

void rl_begin_with_given_schedule(void) {
    const rl_scenario *s = rl_exploration.scenario;
    next = (rl_plan){.choices = s->schedule, .length = s->schedule_length};
    rl_exploration.current = s->schedule ? &next : NULL;
}

void rl_choose(void) {
    next = (rl_plan){0};
    const bool exists = rl_exploration.scenario->choose &&
                        rl_exploration.scenario->choose(rl_exploration.scenario->context, &next);
    rl_exploration.current = exists ? &next : NULL;
}
