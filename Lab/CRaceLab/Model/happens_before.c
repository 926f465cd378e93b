#include "Model/happens_before.h"

#include "Platform/memory.h"
#include "State/shadow.h"

void rl_join_times(uint32_t *into, const uint32_t *other) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (other[i] > into[i]) into[i] = other[i];
}

void rl_join_clock(vector_clock *into, const vector_clock *other) {
    rl_join_times(into->at, other->at);
    rl_join_times(into->ordered, other->ordered);
    if (other->slept > into->slept) into->slept = other->slept;
}

void rl_advance(thread *t) {
    const int index = (int)(t - lab.run.threads);
    if (!t->advanced_at) t->advanced_at = t->clock.at[index];
    t->clock.ordered[index] = ++t->clock.at[index];
}

void rl_tick(int index) {
    thread *t = &lab.run.threads[index];
    t->told = t->clock.at[index];
    t->told_in = lab.run.step_count;
    rl_advance(t);
}

// MARK: - Accesses

bool rl_knows(rl_moment moment) { return my_thread()->clock.at[moment.thread] >= moment.clock; }

static void note_race(rl_race race) {
    for (size_t i = 0; i < lab.run.race_count; i++) {
        rl_race *known = &lab.run.races[i];
        bool same = known->first_pc == race.first_pc && known->second_pc == race.second_pc &&
                    known->first_thread == race.first_thread &&
                    known->second_thread == race.second_thread;
        if (same) {
            known->overlap |= race.overlap;
            known->is_known &= race.is_known;
            return;
        }
    }
    MAKE_ROOM(lab.run.races, lab.run.race_count, lab.run.race_capacity, 16);
    lab.run.races[lab.run.race_count++] = race;
}

/// Whether everything that happens-before the present moment is also known to have happened; see
/// `vector_clock`.
static bool is_consistent(const vector_clock *clock) {
    for (int i = 0; i < lab.run.thread_count; i++)
        if (clock->ordered[i] > clock->at[i]) return false;
    return true;
}

/// Notes a race with an earlier access by another thread, unless that happens before this one.
static void check_against(rl_race race, int other, rl_kind kind, uint32_t clock, uint32_t step,
                          uintptr_t pc) {
    const vector_clock *now = &my_thread()->clock;
    if (other < 0 || other == me->thread || clock <= now->ordered[other]) return;
    race.first_thread = (uint8_t)other;
    race.first_kind = (uint8_t)kind;
    race.first_step = step;
    race.first_pc = pc;
    race.is_known = clock <= now->at[other];
    // Two unordered modifications can overlap in time, unless one of the threads waits for an
    // atomic value of the other in between.
    race.overlap = kind == RL_MODIFY && race.second_kind == RL_MODIFY && !race.is_known;
    note_race(race);
}

static void check_access(cell *c, plain_access a) {
    const int index = me->thread;
    const thread *t = my_thread();
    RL_REQUIRE(is_consistent(&t->clock), "something that is not known happens before");
    const rl_race race = {.address = a.address,
                          .is_partial = a.is_part || c->is_part,
                          .second_thread = (uint8_t)index,
                          .second_kind = a.kind,
                          .second_step = a.step,
                          .second_pc = a.pc};
    check_against(race, c->writer, c->write_kind, c->write_clock, c->write_step, c->write_pc);
    if (a.is_part) c->is_part |= set_of(index);
    if (a.kind == RL_READ) {
        c->read_clock[index] = t->clock.at[index];
        c->read_step[index] = a.step;
        c->read_pc[index] = a.pc;
        return;
    }
    for (int i = 0; i < lab.run.thread_count; i++)
        check_against(race, i, RL_READ, c->read_clock[i], c->read_step[i], c->read_pc[i]);
    c->writer = (int8_t)index;
    c->write_clock = t->clock.at[index];
    c->write_step = a.step;
    c->write_kind = a.kind;
    c->write_pc = a.pc;
}

enum { WORD = sizeof(uint64_t), MOST_WORDS = 1024 };

/// What has been accessed of a word. Of an access that is announced the size is not known.
enum { NONE, TO_WORD, ANNOUNCED, TO_ANY_PART };

/// The key of the accesses to a whole word. At its first byte, smaller ones may begin, too.
static uintptr_t whole(uintptr_t address) {
    return (address & -(uintptr_t)WORD) ^ (uintptr_t)1 << 61;
}

/// From now on, accesses to the whole word are also kept apart from the others at its first byte.
static void keep_apart(cell *c, uintptr_t word) {
    if (c->accesses == TO_WORD) *rl_cell_at(whole(word)) = *c;
    c->accesses = TO_ANY_PART;
}

void rl_check_access(plain_access a) {
    cell *c = rl_cell_at(a.address);
    if (c->accesses == TO_WORD) keep_apart(c, a.address);
    if (c->accesses == NONE) c->accesses = ANNOUNCED;
    check_access(c, a);
}

/// Checks part of an access against what is known of that part.
static void check_part(cell *known, plain_access a, bool is_part) {
    a.is_part = is_part;
    check_access(known, a);
}

static void check_word(uintptr_t word, plain_access a) {
    cell *c = rl_cell_at(word);
    if (c->accesses == NONE) c->accesses = TO_WORD;
    if (c->accesses == ANNOUNCED) keep_apart(c, word);
    check_part(c, a, word != a.address);
    if (c->accesses == TO_WORD) return;
    const size_t races = lab.run.race_count;
    check_part(rl_cell_at(whole(word)), a, word != a.address);
    lab.run.race_count = races;
    for (uintptr_t at = word + 1; c->bytes && at < word + WORD; at++)
        if (c->bytes >> at % WORD & 1) check_part(rl_cell_at(at), a, true);
}

static void check_part_of_word(uintptr_t from, uintptr_t to, plain_access a) {
    const uintptr_t start = from & -(uintptr_t)WORD;
    cell *first = rl_cell_at(start);
    keep_apart(first, start);
    for (uintptr_t at = from; at < to; at++) first->bytes |= (uint8_t)(1 << at % WORD);
    cell *word = rl_cell_at(whole(from));
    // Not on the stack, of which only so much is cleaned.
    static cell before;
    before = *word;
    check_part(word, a, from % WORD || from != a.address);
    *word = before;
    for (uintptr_t at = from; at < to; at++) check_part(rl_cell_at(at), a, at != a.address);
}

void rl_check_memory(plain_access a, size_t size) {
    if (size == 0) return rl_check_access(a);
    const uintptr_t start = a.address & -(uintptr_t)WORD, end = a.address + size;
    for (uintptr_t word = start; word < end && word - start < MOST_WORDS * WORD; word += WORD) {
        const uintptr_t from = word < a.address ? a.address : word;
        const uintptr_t to = word + WORD < end ? word + WORD : end;
        if (to - from == WORD)
            check_word(word, a);
        else
            check_part_of_word(from, to, a);
    }
}

rl_unordered rl_find_unordered(plain_access access, size_t size) {
    const size_t count = lab.run.race_count;
    rl_check_memory(access, size);
    if (lab.run.race_count == count) return (rl_unordered){.exists = false};
    rl_unordered found = {true, lab.run.races[count].first_pc, false};
    for (size_t i = count; i < lab.run.race_count; i++)
        found.is_partial |= lab.run.races[i].is_partial;
    lab.run.race_count = count;
    return found;
}

void rl_is_on_stack_of(int owner, uintptr_t address) {
    cell *c = rl_cell_at(address);
    if (c->on_stack_of > 0 && c->on_stack_of != owner + 1) rl_forget_cell(c);
    c->on_stack_of = (uint8_t)(owner + 1);
}

// MARK: - Reference counts

/// The release of an object by a thread.
typedef struct {
    int8_t thread;
    bool knows_more;  // the moment is its own, see own_moment
    uint32_t moment;  // an index
    uint32_t before;  // the number of the release before it, by another thread; 0: none
} release;

static struct {
    release *all;
    size_t count, capacity;
    vector_clock *moments;
    size_t moment_count, moment_capacity;
} releases;

RL_OF_RUN(releases)

static uint32_t new_moment(thread *t) {
    MAKE_ROOM(releases.moments, releases.moment_count, releases.moment_capacity, 64);
    releases.moments[releases.moment_count++] = t->clock;
    // What the thread accesses from now on comes after the release.
    rl_advance(t);
    return (uint32_t)releases.moment_count - 1;
}

static void join_releases(vector_clock *clock, const void *object) {
    for (uint32_t at = rl_object_at(object)->last_release; at > 0; at = releases.all[at - 1].before)
        rl_join_clock(clock, &releases.moments[releases.all[at - 1].moment]);
}

/// The present moment of a thread. It stays the same until the thread makes its next step.
static uint32_t moment_of(thread *t) {
    if (t->moment == 0 || t->moment_after != t->accesses) t->moment = new_moment(t) + 1;
    t->moment_after = t->accesses;
    return t->moment - 1;
}

/// A moment of one release only. While the thread frees an object, it also knows what was done
/// before the other releases of that object.
static uint32_t own_moment(thread *t) {
    const uint32_t moment = new_moment(t);
    for (const rl_release_in_progress *r = t->releases; r; r = r->outer)
        join_releases(&releases.moments[moment], r->object);
    return moment;
}

void rl_removes_reference(const void *object) {
    if (me->fate != STAYS) return;
    thread *t = my_thread();
    uint32_t *last = &rl_object_at(object)->last_release;
    const release *before = *last > 0 ? &releases.all[*last - 1] : NULL;
    const bool is_again = before && before->thread == me->thread;
    const bool knows_more = t->releases || (is_again && before->knows_more);
    const uint32_t moment = knows_more ? own_moment(t) : moment_of(t);
    const release this = {(int8_t)me->thread, knows_more, moment,
                          is_again ? before->before : *last};
    if (is_again) {
        if (knows_more) rl_join_clock(&releases.moments[moment], &releases.moments[before->moment]);
        releases.all[*last - 1] = this;
        return;
    }
    MAKE_ROOM(releases.all, releases.count, releases.capacity, 64);
    releases.all[releases.count++] = this;
    *last = (uint32_t)releases.count;
}

void rl_has_last_reference(const void *object) {
    if (me->fate != STAYS) return;
    thread *t = my_thread();
    join_releases(&t->clock, object);
    t->moment = 0;
}

// MARK: - Passing objects between threads

void rl_hand_down(const void *thing, uintptr_t pc) {
    cell *c = rl_cell_at((uintptr_t)thing);
    c->handed_over_pc = pc;
    if (!rl_on_lab_thread()) return;
    rl_join_clock(&c->released, &my_thread()->clock);
    rl_tick(me->thread);
}

void rl_pass_on(const void *thing, const void *group) {
    rl_join_clock(&rl_cell_at((uintptr_t)thing)->released, &rl_lock_at((uintptr_t)group)->released);
}

void rl_received(const void *thing) {
    if (!rl_on_lab_thread()) return;
    thread *t = my_thread();
    RL_REQUIRE(t->last_step >= 0, "nothing was received in a step");
    cell *c = rl_cell_at((uintptr_t)thing);
    rl_join_clock(&t->clock, &c->released);
    // Show the step at the line that handed the object over.
    lab.steps[t->last_step].pc = c->handed_over_pc;
}
