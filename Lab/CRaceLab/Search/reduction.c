// Explores one interleaving of each equivalence class: two interleavings are equivalent if they
// differ only in the order of independent steps. This is optimal dynamic partial-order reduction
// (Abdulla, Aronis, Jonsson and Sagonas, "Source Sets", Journal of the ACM 2017).
//
// The search is depth first. After each run it looks for races: pairs of dependent steps that
// nothing else orders. For each race it inserts a sequence of wishes at the node before the first
// of the two steps: the steps that lead to the second one without the first. The wishes of a node
// form its wakeup tree. Sleep sets tell which wishes would only repeat what has been explored.
//
// Sleep sets and wakeup trees have to agree on which steps are independent. They do not where the
// lab knows less about a wish than about explored steps. So a race is skipped because of a sleeping
// thread only if the step of that thread is one of the steps to explore (`is_asleep`).
//
// Some alternatives do not come from a race between two steps: an attempt to take a lock right
// before its release, and a thread that arrives at a dispatch queue later than it could. As soon as
// a run shows such an alternative, every enabled thread makes a wish at every node. That is what
// sleep sets alone would explore.

#include "Search/reduction.h"

#ifndef RL_WITHOUT_HOOKS

#include "Platform/memory.h"
#include "Search/dependence.h"
#include "Search/reference_counts.h"

#include <string.h>

/// One effect of a step. The first is the one that its point announces; the others, such as
/// releases of locks, happen before the next point of its thread.
typedef struct {
    uintptr_t address;
    uint8_t kind;
    uint8_t free_for;           // how the lock at the address was available before, RL_FREE_…
} effect;

/// A step that enables the next step of another thread, by starting or waking it.
typedef struct {
    uint32_t from, to;          // steps; `to` is UNKNOWN until it is made
    uint32_t since;             // the step in which this became known
    int thread;
} order;

/// An effect that is known only after the run.
typedef struct {
    effect effect;
    uint32_t step;
} late_effect;

#define UNKNOWN UINT32_MAX

/// A choice to explore from a node, and what to explore after it: a node of a wakeup tree.
typedef struct wish {
    uint8_t choice;
    struct wish *children, *next;
} wish;

typedef struct {
    uintptr_t address;
    uint8_t kind;
    bool is_spinning;
    bool counts;                // may depend on reference counts, see reference_counts.c
    uintptr_t pc;
} pending;

/// What is known about the state before a step of the current interleaving.
typedef struct {
    alternatives could;
    rl_thread_set sleeping;     // the sleep set, when the search reached this node
    rl_thread_set explored;     // the threads whose step from here has been explored …
    rl_thread_set awake;        // … of which these must not sleep in what is explored next
    uint8_t kinds[RL_MAX_THREADS];  // the kinds of the steps of both, as executed
    rl_thread_set in_runtime;   // those of them whose steps have unannounced effects
    bool is_in_runtime;         // the step of the current run has such effects
    wish *wishes;
    bool is_barrier;            // the step is possible only because no other is
    size_t first_effect;        // of the step, in the current run
    pending pending[RL_MAX_THREADS];
} node;

static struct {
    node *nodes;
    step_clock *clocks;       // for each step: how many steps of each thread happen before it
    uint32_t *numbers;          // for each step: its number among the steps of its thread, from 1
    size_t node_capacity;
    effect *effects;
    size_t effect_count, effect_capacity;
    late_effect *late;
    size_t late_count, late_capacity;
    order *orders;
    size_t order_count, order_capacity;
    wish *guidance;             // the rest of the wish that the run follows
    uint32_t first_node;        // earlier nodes belong to the given schedule
    bool has_begun;             // there has been a run
    bool explores_all;          // every enabled thread makes a wish
    // Of the current race: the steps that lead to its second step.
    uint32_t *needed;
    size_t needed_capacity;
} search;

static void join(step_clock *into, const step_clock *other) {
    for (int i = 0; i < lab.thread_count; i++)
        if (other->at[i] > into->at[i]) into->at[i] = other->at[i];
}

bool rl_reduces(void) {
    const rl_scenario *s = lab.scenario;
    return s->reduce && (!s->schedule || s->beyond);
}

// MARK: - Wishes

static wish *new_wish(uint8_t choice) {
    wish *w = rl_allocate(sizeof *w, "a wish");
    w->choice = choice;
    return w;
}

static void forget_wishes(wish *first) {
    while (first) {
        wish *next = first->next;
        forget_wishes(first->children);
        discard(first);
        first = next;
    }
}

static int thread_of(uint8_t choice) { return rl_chosen_thread(choice); }
static bool is_plain(uint8_t choice) { return choice < RL_TIME_OUT; }

/// Removes and returns the first wish of a list.
static wish *take_wish(wish **list) {
    wish *w = *list;
    *list = w->next;
    w->next = NULL;
    return w;
}

static bool is_possible(const node *n, uint8_t choice) {
    const int thread = thread_of(choice);
    switch (choice & RL_SPURIOUS) {
        case RL_EARLY: return has(n->could.early, thread);
        case RL_TIME_OUT: return has(n->could.time_out, thread);
        case RL_SPURIOUS: return has(n->could.spurious, thread);
    }
    return has(n->could.enabled, thread) && !has(n->sleeping | n->explored, thread);
}

/// Adds a wish of one step, unless the node has it already.
static void wish_for(node *n, uint8_t choice) {
    wish **last = &n->wishes;
    for (; *last; last = &(*last)->next)
        if ((*last)->choice == choice) return;
    *last = new_wish(choice);
}

static void wish_for_all(node *n, int but) {
    for (int i = 0; i < lab.thread_count; i++)
        if (i != but && is_possible(n, (uint8_t)i)) wish_for(n, (uint8_t)i);
}

// MARK: - During a run

void rl_begin_reduced_run(void) {
    search.effect_count = search.order_count = search.late_count = 0;
    search.first_node = lab.scenario->schedule ? lab.scenario->schedule_length : 0;
}

static void make_room_for_node(uint32_t step) {
    if (step < search.node_capacity) return;
    size_t old = search.node_capacity, wanted = old ? 2 * old : 256;
    search.nodes = rl_grown(search.nodes, old, wanted, sizeof *search.nodes);
    search.clocks = rl_grown(search.clocks, old, wanted, sizeof *search.clocks);
    search.numbers = rl_grown(search.numbers, old, wanted, sizeof *search.numbers);
    search.node_capacity = wanted;
}

void rl_come_to_node(const alternatives *could, bool is_barrier) {
    const uint32_t step = lab.step_count;
    const uint32_t given = lab.current ? lab.current->length : 0;
    make_room_for_node(step);
    node *n = &search.nodes[step];
    // The nodes of the prescribed steps are those of an earlier run, but addresses differ.
    if (step >= given || !search.has_begun) {
        *n = (node){.sleeping = lab.sleeping};
        memcpy(n->kinds, lab.sleeping_kinds, sizeof n->kinds);
        n->in_runtime = lab.sleeping_in_runtime;
        if (step >= given) {
            n->wishes = search.guidance;
            search.guidance = NULL;
        }
    }
    n->could = *could;
    n->is_barrier = is_barrier;
    n->is_in_runtime = false;
    n->first_effect = search.effect_count;
    for (int i = 0; i < lab.thread_count; i++) {
        const thread *t = &lab.threads[i];
        const bool waits = t->started && !t->is_away && (!t->finished || t->idle);
        const bool cannot_go = !waits || t->spinning || t->has_looked;
        n->pending[i] = (pending){waits ? t->address : 0, t->kind, cannot_go,
                                  waits && rl_counts_at(t->pc), t->pc};
    }
}

void rl_fall_asleep_at_branch(void) {
    make_room_for_node(lab.step_count);
    memcpy(lab.sleeping_kinds, search.nodes[lab.step_count].kinds, sizeof lab.sleeping_kinds);
    lab.sleeping_in_runtime = search.nodes[lab.step_count].in_runtime;
}

/// Removes wishes until one can be followed, and follows it.
static int follow_wish(node *n) {
    while (n->wishes) {
        wish *w = take_wish(&n->wishes);
        const int choice = w->choice;
        const bool is_good = is_possible(n, w->choice);
        if (is_good)
            search.guidance = w->children;
        else
            forget_wishes(w->children);
        discard(w);
        if (is_good) return choice;
    }
    return NO_THREAD;
}

int rl_wished_choice(void) { return follow_wish(&search.nodes[lab.step_count]); }

void rl_follow_orders(int thread) {
    for (size_t k = 0; k < search.order_count; k++) {
        order *o = &search.orders[k];
        if (o->thread == thread && o->to == UNKNOWN) o->to = lab.step_count;
    }
}

void rl_note_effect(uint8_t kind, uintptr_t address, uint8_t free_for) {
    if (lab.step_count == 0 || !rl_reduces()) return;
    MAKE_ROOM(search.effects, search.effect_count, search.effect_capacity, 256);
    search.effects[search.effect_count++] = (effect){address, kind, free_for};
}

void rl_note_runtime(void) {
    if (lab.step_count > 0 && rl_reduces()) search.nodes[lab.step_count - 1].is_in_runtime = true;
}

void rl_note_late_effect(uint32_t step, uint8_t kind, uintptr_t address) {
    MAKE_ROOM(search.late, search.late_count, search.late_capacity, 64);
    search.late[search.late_count++] = (late_effect){{address, kind, 0}, step};
}

static void append_effect(effect e) {
    MAKE_ROOM(search.effects, search.effect_count, search.effect_capacity, 256);
    search.effects[search.effect_count++] = e;
}

void rl_add_late_effects(void) {
    if (search.late_count == 0) return;
    // The current effects are moved to the end and copied back step by step.
    const size_t count = search.effect_count;
    for (size_t k = 0; k < count + search.late_count; k++) append_effect((effect){0});
    effect *early = &search.effects[count + search.late_count];
    memmove(early, search.effects, count * sizeof *early);
    size_t from = 0, to = 0, next = 0;
    for (uint32_t step = 0; step < lab.step_count; step++) {
        const size_t end = step + 1 < lab.step_count ? search.nodes[step + 1].first_effect : count;
        search.nodes[step].first_effect = to;
        while (from < end) search.effects[to++] = early[from++];
        for (; next < search.late_count && search.late[next].step == step; next++)
            search.effects[to++] = search.late[next].effect;
    }
    if (lab.step_count == 0) return;
    search.effect_count = to;
    search.late_count = 0;
}

void rl_note_order(int thread) { rl_note_order_from(lab.step_count, thread); }

void rl_note_order_from(uint32_t step_count, int thread) {
    if (step_count == 0 || !rl_reduces()) return;
    MAKE_ROOM(search.orders, search.order_count, search.order_capacity, 64);
    search.orders[search.order_count++] = (order){step_count - 1, UNKNOWN, lab.step_count - 1, thread};
}

void rl_note_join(int of) {
    const int32_t last = lab.threads[of].last_step;
    if (last < 0 || !rl_reduces()) return;
    MAKE_ROOM(search.orders, search.order_count, search.order_capacity, 64);
    search.orders[search.order_count++] =
        (order){(uint32_t)last, lab.step_count - 1, (uint32_t)last,
                lab.steps[lab.step_count - 1].thread};
}

void rl_forget_steps_from(uint32_t step) {
    if (!rl_reduces() || step >= search.node_capacity) return;
    search.effect_count = search.nodes[step].first_effect;
    size_t kept = 0;
    for (size_t k = 0; k < search.order_count; k++)
        if (search.orders[k].since < step) search.orders[kept++] = search.orders[k];
    search.order_count = kept;
    for (size_t k = 0; k < search.order_count; k++)
        if (search.orders[k].to >= step) search.orders[k].to = UNKNOWN;
}

void rl_explore_all_choices(void) { search.explores_all = true; }

// MARK: - After a run: dependence

static int thread_at(uint32_t step) { return lab.steps[step].thread; }

static size_t effects_end(uint32_t step) {
    return step + 1 < lab.step_count ? search.nodes[step + 1].first_effect : search.effect_count;
}

/// Whether a step conflicts with an effect of a later step. If so, `*by` is its first effect that
/// does.
static bool conflicts(uint32_t step, const effect *later, const effect **by) {
    const size_t end = effects_end(step);
    for (size_t k = search.nodes[step].first_effect; k < end; k++) {
        *by = &search.effects[k];
        if (rl_are_dependent((*by)->kind, (*by)->address, later->kind, later->address)) return true;
    }
    return false;
}

/// Whether what a later step waits for was available before the effect `before`.
static bool is_free(const effect *before, const effect *later) {
    if (before->address != later->address) return true;
    switch (later->kind) {
        case RL_LOCK: return before->free_for & RL_FREE_FOR_ONE;
        case RL_SHARED_LOCK: return before->free_for & RL_FREE_FOR_READERS;
        case RL_ACQUIRE:
        case RL_RECEIVE: return before->free_for & RL_COUNTED;
        case RL_AWAIT: return before->free_for & RL_EMPTY;
        default: return true;
    }
}

bool rl_is_step_before(uint32_t step, const step_clock *clock) {
    return search.numbers[step] <= clock->at[thread_at(step)];
}

const step_clock *rl_clock_of_step(uint32_t step) { return &search.clocks[step]; }

/// Returns the first step that can be permuted with the one at `step`.
static uint32_t after_last_barrier(uint32_t step) {
    while (step > 0 && !search.nodes[step - 1].is_barrier) step--;
    return step;
}

// MARK: - After a run: wishes

/// Whether none of the first `index` needed steps happens before the moment `clock`.
static bool is_initial(size_t index, const step_clock *clock) {
    for (size_t k = 0; k < index; k++)
        if (rl_is_step_before(search.needed[k], clock)) return false;
    return true;
}

/// A sequence of steps. The last one may be pending.
typedef struct {
    size_t count;
    const effect *last;         // the effects of the last step
    size_t last_count;
    int last_thread;
    uint8_t last_choice;
    const step_clock *last_clock;
    bool last_is_in_runtime;
} sequence;

static int thread_in(const sequence *s, size_t index) {
    return index + 1 == s->count ? s->last_thread : thread_at(search.needed[index]);
}

/// Whether no other step in the sequence happens before the step at `index`.
static bool is_first_in(const sequence *s, size_t index) {
    return is_initial(
        index, index + 1 == s->count ? s->last_clock : &search.clocks[search.needed[index]]);
}

static bool touches_nothing_of(const sequence *s, uint8_t kind, uintptr_t address) {
    for (size_t k = 0; k + 1 < s->count; k++) {
        const effect *by, own = {address, kind, 0};
        if (conflicts(search.needed[k], &own, &by)) return false;
    }
    for (size_t k = 0; k < s->last_count; k++)
        if (rl_are_dependent(s->last[k].kind, s->last[k].address, kind, address)) return false;
    return true;
}

static bool touches_count_of(const effect *effects, size_t count, uintptr_t pc) {
    for (size_t k = 0; k < count; k++) {
        const bool is_count = effects[k].kind == RL_COUNT || effects[k].kind == RL_LOOK;
        if (is_count && rl_depends_on_count(pc, effects[k].kind, effects[k].address)) return true;
    }
    return false;
}

static bool touches_no_count_of(const sequence *s, uintptr_t pc) {
    for (size_t k = 0; k + 1 < s->count; k++) {
        const uint32_t step = search.needed[k];
        const size_t first = search.nodes[step].first_effect;
        if (touches_count_of(&search.effects[first], effects_end(step) - first, pc)) return false;
    }
    return !touches_count_of(s->last, s->last_count, pc);
}

/// Whether a step in the sequence has effects in the concurrency runtime. Then it may depend on any
/// other step that has unannounced effects there.
static bool is_in_runtime(const sequence *s) {
    for (size_t k = 0; k + 1 < s->count; k++) {
        const uint32_t step = search.needed[k];
        if (search.nodes[step].is_in_runtime || rl_is_about_tasks(lab.steps[step].kind)) return true;
    }
    return s->last_is_in_runtime || rl_is_about_tasks(s->last[0].kind);
}

/// Whether a pending step, taken to be of this kind, is independent of the whole sequence.
static bool is_independent(const sequence *s, uint8_t kind, const pending *p) {
    return touches_nothing_of(s, kind, p->address) &&
           (!p->counts || touches_no_count_of(s, p->pc));
}

enum { NOT_IN = -1, BLOCKED = -2 };

/// Returns the index of a thread's first step in a sequence, NOT_IN if there is none, or BLOCKED if
/// another step in the sequence happens before it.
static ptrdiff_t first_step_in(const sequence *s, int thread) {
    for (size_t k = 0; k < s->count; k++)
        if (thread_in(s, k) == thread) return is_first_in(s, k) ? (ptrdiff_t)k : BLOCKED;
    return NOT_IN;
}

/// Whether exploring the sequence from a node would repeat what has been explored: a thread whose
/// step has been explored from here makes that step in the sequence, and could make it first. It is
/// not enough that such a step is missing from the sequence and independent of all of it. The
/// sequence may continue with steps that depend on the missing one, and what has been explored need
/// not lead there. Wakeup trees would lead there if the dependences of all their steps were known.
/// They are not, so a few more runs are started than necessary.
static bool is_asleep(const node *n, const sequence *s, int but) {
    const rl_thread_set asleep = n->sleeping | n->explored;
    for (int i = 0; i < lab.thread_count; i++)
        if (i != but && has(asleep, i) && first_step_in(s, i) >= 0) return true;
    return false;
}

static void remove_from(sequence *s, size_t index) {
    s->count--;
    memmove(&search.needed[index], &search.needed[index + 1],
            (s->count - index) * sizeof *search.needed);
}

/// Finds the wish in a list with which a sequence can begin: its step can be made first in the
/// sequence, or before all of it.
static wish *beginning_of(const node *n, wish *list, const sequence *s, rl_thread_set moved,
                          ptrdiff_t *at) {
    for (wish *w = list; w; w = w->next) {
        const int thread = thread_of(w->choice);
        *at = first_step_in(s, thread);
        if (*at >= 0) {
            const uint8_t choice = (size_t)*at + 1 == s->count
                                       ? s->last_choice
                                       : rl_choice(&lab.steps[search.needed[*at]]);
            if (choice == w->choice) return w;
        }
        const pending *p = &n->pending[thread];
        if (*at == NOT_IN && is_plain(w->choice) && !has(moved, thread) && !is_in_runtime(s) &&
            is_independent(s, p->kind, p))
            return w;
    }
    return NULL;
}

static void append(wish **list, const sequence *s) {
    while (*list) list = &(*list)->next;
    for (size_t k = 0; k < s->count; k++) {
        *list = new_wish(k + 1 == s->count ? s->last_choice
                                           : rl_choice(&lab.steps[search.needed[k]]));
        list = &(*list)->children;
    }
}

/// Inserts a sequence into the wakeup tree of a node, unless the tree leads to it already.
static void insert(node *n, sequence s) {
    wish **list = &n->wishes;
    rl_thread_set moved = 0;
    while (*list && s.count > 0) {
        ptrdiff_t at;
        wish *shared = beginning_of(n, *list, &s, moved, &at);
        if (!shared) break;
        if (!shared->children) return;
        if (at >= 0 && (size_t)at + 1 == s.count) return;
        if (at >= 0) remove_from(&s, (size_t)at);
        moved |= set_of(thread_of(shared->choice));
        list = &shared->children;
    }
    append(list, &s);
}

// MARK: - After a run: races

/// The second step of a race: a step of the run, or a pending one.
typedef struct {
    uint32_t at;                // its index, or the one it would have
    int thread;
    uint8_t choice;
    const effect *effects;
    size_t effect_count;
    bool is_in_runtime;
    bool crashes;
} second_step;

/// Returns the steps after `first` that do not depend on it, followed by `second`.
static sequence without(uint32_t first, const second_step *second, const step_clock *clock) {
    sequence s = {0, second->effects, second->effect_count, second->thread, second->choice, clock,
                  second->is_in_runtime};
    if (search.needed_capacity <= second->at) {
        search.needed_capacity = 2 * (size_t)second->at + 64;
        search.needed = rl_grown(search.needed, 0, search.needed_capacity, sizeof *search.needed);
    }
    for (uint32_t k = first + 1; k < second->at; k++)
        if (!rl_is_step_before(first, &search.clocks[k])) search.needed[s.count++] = k;
    search.needed[s.count++] = second->at;
    return s;
}

static void found_race(uint32_t first, const second_step *second, const step_clock *clock) {
    if (first < search.first_node || first >= lab.branch_limit) return;
    node *n = &search.nodes[first];
    if (n->is_barrier) return;
    sequence s = without(first, second, clock);
    if (is_asleep(n, &s, thread_at(first))) return;
    const int thread = thread_in(&s, 0);
    if (s.count == 1 && !has(n->could.enabled, thread)) return;
    if ((lab.scenario->faults & RL_FAULT_SKIP_LAST_ALTERNATIVE) && n->could.enabled >> thread == 1)
        return;
    insert(n, s);
}

/// The clock of a thread before a step: it covers the thread's own steps, and those that started or
/// woke it.
static step_clock clock_before(uint32_t step, int thread) {
    step_clock clock = {0};
    uint32_t k = step;
    while (k > 0 && thread_at(k - 1) != thread) k--;
    if (k > 0) clock = search.clocks[k - 1];
    const uint32_t start = after_last_barrier(step);
    if (start > 0) join(&clock, &search.clocks[start - 1]);
    for (size_t i = 0; i < search.order_count; i++) {
        const order *o = &search.orders[i];
        if (o->thread == thread && o->since < step && o->to >= step)
            join(&clock, &search.clocks[o->from]);
    }
    return clock;
}

/// Finds the steps that race with a step. Returns the clock of that step. A step that is known to
/// crash the process is not made. It may depend on more than it has announced, so it races with every
/// step that it does not follow.
static step_clock look_for_races(const second_step *second, bool counts) {
    step_clock known = clock_before(second->at, second->thread), all = known;
    const uint32_t start = after_last_barrier(second->at);
    for (uint32_t k = second->at; k > start; k--) {
        const uint32_t first = k - 1;
        if (thread_at(first) == second->thread || rl_is_step_before(first, &known)) continue;
        if (second->crashes) {
            search.nodes[first].awake |= set_of(thread_at(first));
            found_race(first, second, &known);
        }
        for (size_t e = 0; e < second->effect_count; e++) {
            const effect *by;
            if (!conflicts(first, &second->effects[e], &by)) continue;
            if (!rl_is_step_before(first, &all)) join(&all, &search.clocks[first]);
            if (!is_free(by, &second->effects[e])) continue;
            if (counts) found_race(first, second, &known);
            join(&known, &search.clocks[first]);
            break;
        }
    }
    return all;
}

/// A thread that waits at the end of the run, or before a step that is possible only because no
/// thread is enabled, races with the threads that took first what it waits for.
static void look_for_races_of_waiting(uint32_t step) {
    const node *n = &search.nodes[step];
    for (int i = 0; i < lab.thread_count; i++) {
        const pending *p = &n->pending[i];
        if (!p->address || p->is_spinning) continue;
        const effect own = {p->address, p->kind, 0};
        const bool may_be_in_runtime = lab.threads[i].is_task;
        look_for_races(&(second_step){step, i, (uint8_t)i, &own, 1, may_be_in_runtime}, true);
    }
}

static step_clock clock_of_all(uint32_t step) {
    step_clock clock = {0};
    for (uint32_t k = 0; k < step; k++) clock.at[thread_at(k)] = search.numbers[k];
    return clock;
}

static uint32_t number_of(uint32_t step) {
    for (uint32_t k = step; k > 0; k--)
        if (thread_at(k - 1) == thread_at(step)) return search.numbers[k - 1] + 1;
    return 1;
}

static void look_at_step(uint32_t step) {
    const size_t first = search.nodes[step].first_effect, end = effects_end(step);
    const bool crashes = lab.status == RL_CRASHES && step + 1 == lab.step_count;
    const second_step second = {step, thread_at(step), rl_choice(&lab.steps[step]),
                                &search.effects[first], end - first,
                                search.nodes[step].is_in_runtime || crashes, crashes};
    search.numbers[step] = number_of(step);
    if (search.nodes[step].is_barrier) {
        look_for_races_of_waiting(step);
        search.clocks[step] = clock_of_all(step);
    } else {
        search.clocks[step] = look_for_races(&second, true);
    }
    search.clocks[step].at[second.thread] = search.numbers[step];
}

/// A step that is known to crash the process has only the effect that it announced.
static void complete_last_step(void) {
    const uint32_t last = lab.step_count - 1;
    if (search.nodes[last].first_effect < search.effect_count) return;
    const pending *p = &search.nodes[last].pending[thread_at(last)];
    rl_note_effect(p->kind, p->address, 0);
}

/// What the other threads would do instead of the crash is unknown.
static void let_others_go_before_crash(void) {
    const uint32_t last = lab.step_count - 1;
    wish_for_all(&search.nodes[last], thread_at(last));
    search.nodes[last].awake |= set_of(thread_at(last));
}

/// Records as what the executed step at a node counts while its thread sleeps.
static void note_kind(uint32_t step) {
    node *n = &search.nodes[step];
    const size_t first = n->first_effect;
    n->kinds[thread_at(step)] = search.effects[first].kind;
    n->in_runtime &= ~set_of(thread_at(step));
    if (n->is_in_runtime) n->in_runtime |= set_of(thread_at(step));
}

void rl_look_for_races(void) {
    const uint32_t given = lab.current ? lab.current->length : 0;
    const uint32_t from = given > 0 ? given - 1 : 0;
    const uint32_t end = lab.step_count < lab.branch_limit ? lab.step_count : lab.branch_limit;
    if (lab.step_count == 0) return;
    complete_last_step();
    const uint32_t first = search.has_begun ? from : 0;
    search.has_begun = true;
    for (uint32_t k = first; k < end; k++) look_at_step(k);
    for (uint32_t k = first; k < end; k++) note_kind(k);
    if (lab.status == RL_CRASHES)
        let_others_go_before_crash();
    else if (end == lab.step_count)
        look_for_races_of_waiting(end);
    for (uint32_t k = from; k < end; k++) {
        node *n = &search.nodes[k];
        if (k < search.first_node) continue;
        if (n->is_barrier) wish_for_all(n, thread_at(k));
        if (k < given || (lab.scenario->faults & RL_FAULT_NO_EARLY_ATTEMPTS)) continue;
        const rl_thread_set early = n->could.early & ~n->sleeping;
        for (int i = 0; i < lab.thread_count; i++) {
            if (has(early, i)) wish_for(n, (uint8_t)(i | RL_EARLY));
            if (has(n->could.time_out, i)) wish_for(n, (uint8_t)(i | RL_TIME_OUT));
            if (has(n->could.spurious, i)) wish_for(n, (uint8_t)(i | RL_SPURIOUS));
        }
    }
    if (!search.explores_all && !lab.scenario->liberties) return;
    for (uint32_t k = search.first_node; k < end; k++)
        wish_for_all(&search.nodes[k], thread_at(k));
}

// MARK: - After a run: other orders of the same steps

bool rl_could_go_on(const step_clock *done, int thread, uint32_t next) {
    const bool is_made = next != UNKNOWN;
    if (!is_made && lab.threads[thread].finished) return false;
    const uint32_t at = is_made ? next : lab.step_count;
    const pending *p = &search.nodes[at].pending[thread];
    if (p->is_spinning) return false;
    for (size_t k = 0; k < search.order_count; k++) {
        const order *o = &search.orders[k];
        const bool is_for_it = o->thread == thread && o->since < at && o->to >= at;
        if (is_for_it && !rl_is_step_before(o->from, done)) return false;
    }
    // The first remaining effect on the address shows how it was available until then.
    const effect own = {p->address, p->kind, 0};
    for (uint32_t k = 0; k < lab.step_count; k++) {
        if (rl_is_step_before(k, done)) continue;
        const size_t end = effects_end(k);
        for (size_t e = search.nodes[k].first_effect; e < end; e++)
            if (search.effects[e].address == p->address) return is_free(&search.effects[e], &own);
    }
    return is_made;
}

// MARK: - The next run

static branch *branch_for(uint32_t step, uint8_t choice) {
    const node *n = &search.nodes[step];
    branch *b = rl_allocate(sizeof *b + step + 1, "a schedule");
    b->fingerprint = lab.fingerprints[step];
    b->length = step + 1;
    b->sleeping = !is_plain(choice) ? 0 : (n->sleeping | n->explored) & ~n->awake;
    for (uint32_t k = 0; k < step; k++) b->choices[k] = rl_choice(&lab.steps[k]);
    b->choices[step] = choice;
    return b;
}

branch *rl_next_reduced_branch(void) {
    forget_wishes(search.guidance);
    search.guidance = NULL;
    const uint32_t end = lab.step_count < lab.branch_limit ? lab.step_count : lab.branch_limit;
    for (uint32_t k = end; k <= lab.step_count; k++) {
        forget_wishes(search.nodes[k].wishes);
        search.nodes[k].wishes = NULL;
    }
    for (uint32_t k = end; k > search.first_node; k--) {
        node *n = &search.nodes[k - 1];
        if (is_plain(rl_choice(&lab.steps[k - 1]))) n->explored |= set_of(thread_at(k - 1));
        const int choice = follow_wish(n);
        if (choice != NO_THREAD) return branch_for(k - 1, (uint8_t)choice);
    }
    return NULL;
}

void rl_forget_reduction(void) {
    forget_wishes(search.guidance);
    search.guidance = NULL;
    for (size_t k = 0; k < search.node_capacity; k++) {
        forget_wishes(search.nodes[k].wishes);
        search.nodes[k].wishes = NULL;
    }
    search.has_begun = search.explores_all = false;
}

#endif
