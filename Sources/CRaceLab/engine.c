// Real threads, one at a time. The thread that runs decides, at every point, who goes next, and
// hands over only if that is somebody else. When a run is over, the thread that ended it judges
// it, picks the next one and begins it; the caller of rl_explore only watches.
//
// All state in `lab` belongs to the thread that runs. The gates through which one thread hands
// over to another are what makes the changes of the one visible to the other.

#if defined(__linux__)
#define _GNU_SOURCE
#endif

#include "engine.h"

#ifndef RL_UNDER_THREAD_SANITIZER

#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <dispatch/dispatch.h>
#include <mach/mach.h>
#endif

#define NOBODY (-1)
#define ENGINE (-2)  // not a thread of the scenario: the work between two runs

// MARK: - Gates: where a thread waits for its turn

#if defined(__linux__)

typedef struct {
    _Atomic uint32_t open;
} gate;

static void gate_make(gate *g) { atomic_store(&g->open, 0); }

static void gate_open(gate *g) {
    atomic_store(&g->open, 1);
    syscall(SYS_futex, &g->open, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static bool gate_wait(gate *g, const struct timespec *at_most) {
    while (!atomic_exchange(&g->open, 0)) {
        long result = syscall(SYS_futex, &g->open, FUTEX_WAIT_PRIVATE, 0, at_most, NULL, 0);
        if (result == -1 && errno == ETIMEDOUT) return atomic_exchange(&g->open, 0);
    }
    return true;
}

#else

typedef struct {
    dispatch_semaphore_t semaphore;
} gate;

static void gate_make(gate *g) { g->semaphore = dispatch_semaphore_create(0); }
static void gate_open(gate *g) { dispatch_semaphore_signal(g->semaphore); }

static bool gate_wait(gate *g, const struct timespec *at_most) {
    dispatch_time_t until =
        at_most ? dispatch_time(DISPATCH_TIME_NOW, at_most->tv_sec * 1000000000ll + at_most->tv_nsec)
                : DISPATCH_TIME_FOREVER;
    return dispatch_semaphore_wait(g->semaphore, until) == 0;
}

#endif

// MARK: - What the engine knows

typedef struct {
    uint32_t at[RL_MAX_THREADS];
} vector_clock;

/// What is known of one address.
typedef struct {
    uintptr_t address;
    uint64_t run;               // of another run: empty
    int8_t writer;
    uint32_t write_clock, write_step;
    uint8_t write_kind;
    uintptr_t write_pc;
    uint32_t read_clock[RL_MAX_THREADS], read_step[RL_MAX_THREADS];
    uintptr_t read_pc[RL_MAX_THREADS];
    vector_clock released;      // by the last unlock, or the atomic writes so far
    int8_t owner;
    uintptr_t owner_pc;
} cell;

/// A place a thread has been at since anybody last made a difference to it.
typedef struct {
    uintptr_t address, pc;
    uint64_t fingerprint;       // of the thread's stack and registers
} visit;

#define MAX_VISITS 32

typedef struct worker worker;

#define MAX_HELD 16

typedef struct {
    bool started, finished;
    uint8_t kind;               // what it is about to do …
    uintptr_t address, pc;      // … to what, and where
    worker *on;
    vector_clock clock;
    int32_t last_step;          // -1 before its first
    bool unreported;            // `stepped` has not been called for its last step
    uint32_t accesses;
    uint8_t locks_held;
    uintptr_t held[MAX_HELD];   // the words of those that are released without saying so
    bool spinning;
    uint32_t visit_count;
    visit visits[MAX_VISITS];
} thread;

/// A thread of the operating system that runs the bodies of scenarios' threads.
struct worker {
    pthread_t pthread;
    uint32_t number;
    int processor;              // to which it is bound; -1: none
    gate turn;
    int assigned;               // what to do when its turn comes
    int thread;                 // whose body it is in, or NOBODY
    bool doomed;                // its body is given up, and it with it
    jmp_buf base;
    uintptr_t stack_base;
    worker *next_idle;
};

/// An interleaving that is still to be explored: these choices, then whatever takes the fewest
/// switches.
typedef struct {
    uint64_t fingerprint;       // of what the steps before the last choice have to be
    uint32_t length;
    uint8_t sleeping;           // when the last choice is made
    uint8_t choices[];
} branch;

typedef struct {
    branch **items;
    size_t first, count, capacity;
} branch_queue;

static struct {
    const rl_scenario *scenario;
    bool begun;
    rl_summary summary;
    uint64_t run;                   // counts all runs of the process

    int thread_count, started_count;
    thread threads[RL_MAX_THREADS];

    rl_step *steps;
    uint64_t *fingerprints;         // of all steps before the one with that index
    uint32_t step_count, step_capacity;
    uint8_t sleeping;
    uint16_t preemptions;
    int last;                       // who made the last step
    branch *current;
    bool redundant;
    uint32_t branch_limit;          // no branches from this step on
    rl_status status;
    uint32_t misfit_step;
    int misfit_thread;

    rl_race races[RL_MAX_RACES];
    uint32_t race_count;

    cell *cells;
    size_t cell_capacity, cell_count;
    int locks_held;

    branch_queue *queues;           // one for each number of preemptions
    size_t queue_count;

    void **kept;
    size_t kept_count, kept_capacity;

    worker *idle;
    worker *running;
    int processor;
    gate done;
    _Atomic uint64_t progress;
} lab;

static _Thread_local worker *me;
static _Thread_local int listening, ignoring;
_Thread_local int rl_active;

static void update_active(void) { rl_active = listening > 0 && ignoring == 0; }

void rl_listen(void) { listening++; update_active(); }
void rl_deafen(void) { listening--; update_active(); }
void rl_ignore(void) { ignoring++; update_active(); }
void rl_attend(void) { ignoring--; update_active(); }

bool rl_on_lab_thread(void) { return me != NULL && me->thread >= 0; }
bool rl_lock_is_held(void) { return lab.locks_held > 0; }
uint32_t rl_thread_number(void) { return me->number; }

// The lab's own memory never goes through the `free` of listen.c.
#if defined(__GLIBC__)
extern void __libc_free(void *memory);
#define release(memory) __libc_free(memory)
#else
#define release(memory) free(memory)
#endif

static void *grown(void *old, size_t used, size_t wanted, size_t size) {
    void *fresh = calloc(wanted, size);
    if (!fresh) abort();
    if (old) {
        memcpy(fresh, old, used * size);
        release(old);
    }
    return fresh;
}

// MARK: - Memory

bool rl_keep(void *memory) {
    if (!me || me->thread < 0 || me->doomed) return false;
    if (lab.kept_count == lab.kept_capacity) {
        lab.kept_capacity = lab.kept_capacity ? 2 * lab.kept_capacity : 1024;
        lab.kept = grown(lab.kept, lab.kept_count, lab.kept_capacity, sizeof *lab.kept);
    }
    lab.kept[lab.kept_count++] = memory;
    return true;
}

static void free_what_was_kept(void) {
    for (size_t i = 0; i < lab.kept_count; i++) release(lab.kept[i]);
    lab.kept_count = 0;
}

// MARK: - Happens-before

static void join(vector_clock *into, const vector_clock *other) {
    for (int i = 0; i < RL_MAX_THREADS; i++)
        if (other->at[i] > into->at[i]) into->at[i] = other->at[i];
}

static size_t cell_index(uintptr_t address) {
    uint64_t hash = (uint64_t)(address >> 3) * 0x9E3779B97F4A7C15ull;
    return (size_t)(hash >> 20) & (lab.cell_capacity - 1);
}

static cell *cell_at(uintptr_t address) {
    if (2 * lab.cell_count >= lab.cell_capacity) {
        cell *old = lab.cells;
        size_t old_capacity = lab.cell_capacity;
        lab.cell_capacity = old_capacity ? 2 * old_capacity : 256;
        lab.cells = calloc(lab.cell_capacity, sizeof(cell));
        if (!lab.cells) abort();
        for (size_t i = 0; i < old_capacity; i++) {
            if (old[i].run != lab.run) continue;
            size_t at = cell_index(old[i].address);
            while (lab.cells[at].run == lab.run) at = (at + 1) & (lab.cell_capacity - 1);
            lab.cells[at] = old[i];
        }
        if (old) release(old);
    }
    size_t at = cell_index(address);
    while (lab.cells[at].run == lab.run && lab.cells[at].address != address)
        at = (at + 1) & (lab.cell_capacity - 1);
    cell *found = &lab.cells[at];
    if (found->run != lab.run) {
        memset(found, 0, sizeof *found);
        found->run = lab.run;
        found->address = address;
        found->writer = found->owner = NOBODY;
        lab.cell_count++;
    }
    return found;
}

static void note_race(rl_race race) {
    for (uint32_t i = 0; i < lab.race_count; i++) {
        rl_race *known = &lab.races[i];
        bool same = known->first_pc == race.first_pc && known->second_pc == race.second_pc &&
                    known->first_thread == race.first_thread &&
                    known->second_thread == race.second_thread;
        if (same) {
            known->overlap |= race.overlap;
            return;
        }
    }
    if (lab.race_count < RL_MAX_RACES) lab.races[lab.race_count++] = race;
}

/// An access that is not atomic and not a lock: it needs to be ordered after those before it.
static void check_access(int me_index, thread *t, cell *c, uint32_t step) {
    rl_race race = {.address = t->address, .second_thread = (uint8_t)me_index,
                    .second_kind = t->kind, .second_step = step, .second_pc = t->pc};
    if (c->writer >= 0 && c->writer != me_index && c->write_clock > t->clock.at[c->writer]) {
        race.first_thread = (uint8_t)c->writer;
        race.first_kind = c->write_kind;
        race.first_step = c->write_step;
        race.first_pc = c->write_pc;
        // Where nothing orders two modifications, nothing keeps both threads from being in the
        // middle of theirs at the same time.
        race.overlap = t->kind == RL_MODIFY;
        note_race(race);
    }
    if (t->kind == RL_READ) {
        c->read_clock[me_index] = t->clock.at[me_index];
        c->read_step[me_index] = step;
        c->read_pc[me_index] = t->pc;
        return;
    }
    for (int other = 0; other < lab.thread_count; other++) {
        if (other == me_index || c->read_clock[other] <= t->clock.at[other]) continue;
        race.first_thread = (uint8_t)other;
        race.first_kind = RL_READ;
        race.first_step = c->read_step[other];
        race.first_pc = c->read_pc[other];
        race.overlap = false;
        note_race(race);
    }
    c->writer = (int8_t)me_index;
    c->write_clock = t->clock.at[me_index];
    c->write_step = step;
    c->write_kind = t->kind;
    c->write_pc = t->pc;
}

// MARK: - Who depends on whom

static bool only_reads(uint8_t kind) { return kind == RL_READ || kind == RL_ATOMIC_READ; }

static bool dependent(uint8_t kind, uintptr_t address, const thread *other) {
    return address == other->address && !(only_reads(kind) && only_reads(other->kind));
}

/// Something was done at an address: whoever sleeps because doing it later made no difference,
/// or spins until somebody does it, wakes up.
static void did(int by, uint8_t kind, uintptr_t address) {
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (i == by || t->finished) continue;
        if ((lab.sleeping >> i & 1) && dependent(kind, address, t))
            lab.sleeping &= (uint8_t)~(1u << i);
        if (only_reads(kind)) continue;
        for (uint32_t v = 0; v < t->visit_count; v++) {
            if (t->visits[v].address != address) continue;
            t->visit_count = 0;
            t->spinning = false;
        }
    }
    // A lock that is taken and released again leaves this thread where it was.
    bool lasting = kind == RL_MODIFY || kind == RL_ATOMIC_WRITE || kind == RL_NOTE;
    if (lasting) lab.threads[by].visit_count = 0;
}

// MARK: - Spinning

/// Everything a thread could tell two rounds of a loop apart by, in one number: its stack and
/// the registers that survive a call.
static uint64_t fingerprint(uintptr_t stack) {
    jmp_buf registers;
    memset(&registers, 0, sizeof registers);
    (void)_setjmp(registers);
    uint64_t hash = 0xCBF29CE484222325ull;
    const uint64_t *word = (const uint64_t *)&registers;
    for (size_t i = 0; i < 8; i++) hash = (hash ^ word[i]) * 0x100000001B3ull;
    word = (const uint64_t *)(stack & ~(uintptr_t)7);
    for (; (uintptr_t)word < me->stack_base; word++) hash = (hash ^ *word) * 0x100000001B3ull;
    return hash;
}

/// A thread that comes to the same point in the same state, and nobody has changed anything it
/// looked at, will do so again for ever. It is not to go on until somebody does.
static void look_for_spinning(thread *t, uintptr_t stack) {
    bool may_spin = only_reads(t->kind) || t->kind == RL_LOCK || t->kind == RL_TRY_LOCK ||
                    t->kind == RL_EXCHANGE;
    if (!may_spin) return;
    uint64_t now = fingerprint(stack);
    for (uint32_t v = 0; v < t->visit_count; v++) {
        visit *before = &t->visits[v];
        if (before->address != t->address || before->pc != t->pc) continue;
        t->spinning = before->fingerprint == now;
        before->fingerprint = now;
        return;
    }
    if (t->visit_count < MAX_VISITS)
        t->visits[t->visit_count++] = (visit){t->address, t->pc, now};
}

// MARK: - Whose turn it is

static bool is_free(uintptr_t lock) {
    return (lab.scenario->faults & RL_FAULT_LOCKS_ALWAYS_FREE) || cell_at(lock)->owner == NOBODY;
}

static bool can_go(const thread *t) {
    if (!t->started || t->finished || t->spinning) return false;
    return t->kind != RL_LOCK || is_free(t->address);
}

static void make_room_for_step(void) {
    if (lab.step_count < lab.step_capacity) return;
    uint32_t wanted = lab.step_capacity ? 2 * lab.step_capacity : 256;
    lab.steps = grown(lab.steps, lab.step_count, wanted, sizeof *lab.steps);
    lab.fingerprints = grown(lab.fingerprints, lab.step_count, wanted, sizeof *lab.fingerprints);
    lab.step_capacity = wanted;
}

static int lowest(uint8_t set) { return __builtin_ctz(set); }

static bool has(uint8_t set, int index) { return index >= 0 && (set >> index & 1); }

/// The choice that is prescribed for this step; NOBODY if it is ours.
static int prescribed(uint32_t step) {
    if (!lab.current || step >= lab.current->length) return NOBODY;
    return lab.current->choices[step];
}

/// Whether a schedule that is to be run as it is says otherwise than the run does.
static bool misfits(int choice, uint8_t enabled) {
    if (!lab.scenario->schedule || lab.scenario->beyond) return false;
    return enabled ? !has(enabled, choice) : choice != NOBODY;
}

/// Decides who makes the next step. NOBODY: the run is over, one way or another.
static int decide(void) {
    uint8_t enabled = 0;
    bool unfinished = false;
    for (int i = 0; i < lab.thread_count; i++) {
        if (can_go(&lab.threads[i])) enabled |= (uint8_t)(1u << i);
        unfinished |= !lab.threads[i].finished;
    }
    uint32_t step = lab.step_count;
    make_room_for_step();
    // Who can go is part of it: a thread that ends earlier than it did is not the same.
    lab.fingerprints[step] = (uint64_t)enabled << 40 | 1;
    if (step > 0)
        lab.fingerprints[step] ^=
            (lab.fingerprints[step - 1] ^ lab.steps[step - 1].pc ^
             (uint64_t)lab.steps[step - 1].thread << 56 ^
             (uint64_t)lab.steps[step - 1].kind << 48) * 0x9E3779B97F4A7C15ull;
    int choice = prescribed(step);
    bool at_branch = lab.current && step + 1 == lab.current->length;
    uint64_t expected = at_branch ? lab.current->fingerprint : 0;
    if (at_branch) lab.sleeping = lab.current->sleeping;

    if (misfits(choice, enabled))
        lab.status = RL_MISFIT;
    else if (!enabled && choice != NOBODY && !lab.scenario->schedule)
        lab.status = RL_NOT_THE_SAME;
    else if (!enabled)
        lab.status = unfinished ? RL_DEADLOCK : RL_COMPLETE;
    else if ((choice != NOBODY && !has(enabled, choice)) ||
             (expected && expected != lab.fingerprints[step]))
        lab.status = lab.scenario->schedule ? RL_MISFIT : RL_NOT_THE_SAME;
    else if (step >= lab.scenario->max_steps)
        lab.status = RL_TOO_LONG;
    if (lab.status != RL_COMPLETE || !enabled) {
        lab.misfit_step = step;
        lab.misfit_thread = choice;
        return NOBODY;
    }
    if (choice == NOBODY) {
        uint8_t useful = enabled & (uint8_t)~lab.sleeping;
        if (!useful) {
            // Every way on from here has been explored under another name. Come to an end.
            lab.redundant = true;
            if (step < lab.branch_limit) lab.branch_limit = step;
            lab.sleeping = 0;
            useful = enabled;
        }
        choice = has(useful, lab.last) ? lab.last : lowest(useful);
    }
    lab.steps[step] = (rl_step){.thread = (uint8_t)choice, .enabled = enabled,
                                .sleeping = lab.sleeping, .preemptions = lab.preemptions};
    if (choice != lab.last && has(enabled, lab.last)) lab.preemptions++;
    lab.last = choice;
    lab.step_count++;
    return choice;
}

// MARK: - Workers

static void *work(void *argument);

static worker *idle_worker(void) {
    worker *w = lab.idle;
    if (w) {
        lab.idle = w->next_idle;
        return w;
    }
    w = calloc(1, sizeof *w);
    if (!w) abort();
    gate_make(&w->turn);
    w->processor = -1;
    w->thread = NOBODY;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 20);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (pthread_create(&w->pthread, &attributes, work, w) != 0) {
        fputs("RaceLab: the operating system refuses to start another thread\n", stderr);
        abort();
    }
    pthread_attr_destroy(&attributes);
    return w;
}

static void hand_over(worker *w) {
    lab.running = w;
    gate_open(&w->turn);
}

static void assign(int what) {
    worker *w = idle_worker();
    w->assigned = what;
    if (what >= 0) lab.threads[what].on = w;
    hand_over(w);
}

static void bind_to_processor(worker *w) {
#if defined(__linux__)
    if (w->processor == lab.processor) return;
    w->processor = lab.processor;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(lab.processor, &set);
    sched_setaffinity(0, sizeof set, &set);
#else
    (void)w;
#endif
}

/// Leaves a body that will never end. Its stack is given up with the worker; what the body held
/// on the heap is lost, which is the price of getting out of a deadlock.
static _Noreturn void give_up(void) {
    rl_active = listening = ignoring = 0;
    longjmp(me->base, 1);
}

/// `stepped` is called when the thread that made the step has come to its next point.
static void report_last_step(thread *t) {
    if (!t->unreported) return;
    t->unreported = false;
    lab.steps[t->last_step].locks_held = t->locks_held;
    if (!lab.scenario->stepped) return;
    rl_ignore();
    lab.scenario->stepped(lab.scenario->context, (uint32_t)t->last_step);
    rl_attend();
}

static void unlocked(thread *t, uintptr_t address) {
    int index = (int)(t - lab.threads);
    cell *c = cell_at(address);
    if (c->owner == index) {
        c->owner = NOBODY;
        t->locks_held--;
        lab.locks_held--;
    }
    if (!(lab.scenario->faults & RL_FAULT_NO_EDGE_FROM_UNLOCK)) c->released = t->clock;
    t->clock.at[index]++;
    did(index, RL_LOCK, address);
}

void rl_unlocked(const void *address) {
    if (me->doomed) give_up();
    unlocked(&lab.threads[me->thread], (uintptr_t)address);
}

void rl_will_release_silently(const void *word) {
    thread *t = &lab.threads[me->thread];
    for (int i = 0; i < MAX_HELD; i++) {
        if (t->held[i]) continue;
        t->held[i] = (uintptr_t)word;
        return;
    }
}

/// An unlock is no point, so it is early enough to learn of it at the next one.
static void notice_unlocks(thread *t) {
    for (int i = 0; i < MAX_HELD; i++) {
        if (!t->held[i] || atomic_load((_Atomic uint32_t *)t->held[i]) != 0) continue;
        unlocked(t, t->held[i]);
        t->held[i] = 0;
    }
}

uint32_t rl_point(rl_kind kind, const void *address, rl_place place) {
    if (me->doomed) give_up();
    atomic_fetch_add_explicit(&lab.progress, 1, memory_order_relaxed);
    int index = me->thread;
    thread *t = &lab.threads[index];
    notice_unlocks(t);
    report_last_step(t);
    t->kind = (uint8_t)kind;
    t->address = (uintptr_t)address;
    t->pc = place.pc;
    t->started = true;
    look_for_spinning(t, place.stack);

    int next;
    if (lab.started_count < lab.thread_count) {
        // All threads come to their first point before any of them goes beyond it.
        assign(lab.started_count++);
        next = NOBODY;
    } else {
        next = decide();
        if (next == NOBODY) {
            me->doomed = true;
            assign(ENGINE);
            give_up();
        }
        if (next != index) hand_over(lab.threads[next].on);
    }
    if (next != index) {
        gate_wait(&me->turn, NULL);
        if (me->doomed) give_up();
    }

    // It is this thread's turn.
    uint32_t step = lab.step_count - 1;
    rl_step *record = &lab.steps[step];
    record->kind = t->kind;
    record->address = t->address;
    record->pc = t->pc;
    cell *c = cell_at(t->address);
    switch (kind) {
        case RL_READ:
        case RL_MODIFY:
            check_access(index, t, c, step);
            break;
        case RL_LOCK:
        case RL_TRY_LOCK:
            record->failed = kind == RL_TRY_LOCK && !is_free(t->address);
            if (record->failed) {
                // The holder releases it at the end of some step: doing that step later than
                // this try is not the same as doing it before.
                if (c->owner != NOBODY) lab.sleeping &= (uint8_t)~(1u << c->owner);
                break;
            }
            c->owner = (int8_t)index;
            c->owner_pc = t->pc;
            t->locks_held++;
            lab.locks_held++;
            join(&t->clock, &c->released);
            break;
        case RL_ATOMIC_READ:
        case RL_EXCHANGE:
            join(&t->clock, &c->released);
            break;
        case RL_ATOMIC_WRITE:
            join(&t->clock, &c->released);
            c->released = t->clock;
            t->clock.at[index]++;
            break;
        case RL_NOTE:
            break;
    }
    if (kind != RL_NOTE) t->accesses++;
    t->last_step = (int32_t)step;
    t->unreported = true;
    // What came of an exchange is known after it; a try that fails has only looked.
    if (kind != RL_EXCHANGE) did(index, record->failed ? RL_ATOMIC_READ : t->kind, t->address);
    return step;
}

void rl_exchanged(uint32_t step, bool done) {
    int index = me->thread;
    thread *t = &lab.threads[index];
    lab.steps[step].failed = !done;
    if (done) {
        cell_at(t->address)->released = t->clock;
        t->clock.at[index]++;
    }
    did(index, done ? RL_ATOMIC_WRITE : RL_ATOMIC_READ, t->address);
}

bool rl_got_lock(uint32_t step) { return !lab.steps[step].failed; }

uint32_t rl_note(const void *place) {
    if (!rl_active) return UINT32_MAX;
    return rl_point(RL_NOTE, place, RL_CALLER);
}

// MARK: - Atomics of the compiler's own

/// Generic code keeps what it once looked up (type metadata, witness tables) in caches, which it
/// reads and writes atomically. They are no part of the program that a person wrote, and would
/// make the first run differ from the others. What a call site is has to be asked once.
typedef struct {
    uintptr_t pc;
    bool is_compilers;
} call_site;

static call_site *call_sites;
static size_t call_site_count, call_site_capacity;

bool rl_is_compilers_own(uintptr_t pc) {
    for (size_t i = 0; i < call_site_count; i++)
        if (call_sites[i].pc == pc) return call_sites[i].is_compilers;
    rl_ignore();
    bool answer = lab.scenario->is_compilers_own(pc);
    rl_attend();
    if (call_site_count == call_site_capacity) {
        size_t wanted = call_site_capacity ? 2 * call_site_capacity : 64;
        call_sites = grown(call_sites, call_site_count, wanted, sizeof *call_sites);
        call_site_capacity = wanted;
    }
    call_sites[call_site_count++] = (call_site){pc, answer};
    return answer;
}

// MARK: - What is still to be explored

static void push(uint16_t preemptions, branch *b) {
    if (preemptions >= lab.queue_count) {
        size_t wanted = (size_t)preemptions + 8;
        lab.queues = grown(lab.queues, lab.queue_count, wanted, sizeof *lab.queues);
        lab.queue_count = wanted;
    }
    branch_queue *q = &lab.queues[preemptions];
    if (q->count == q->capacity) {
        size_t wanted = q->capacity ? 2 * q->capacity : 64;
        q->items = grown(q->items, q->count, wanted, sizeof *q->items);
        q->capacity = wanted;
    }
    q->items[q->count++] = b;
}

/// The branch with the fewest preemptions; of those, the one found first.
static branch *pop(void) {
    for (size_t i = 0; i < lab.queue_count; i++) {
        branch_queue *q = &lab.queues[i];
        if (q->first == q->count) continue;
        branch *b = q->items[q->first++];
        if (q->first == q->count) q->first = q->count = 0;
        return b;
    }
    return NULL;
}

static void forget_branches(void) {
    for (branch *b = pop(); b; b = pop()) release(b);
    for (size_t i = 0; i < lab.queue_count; i++)
        if (lab.queues[i].items) release(lab.queues[i].items);
    if (lab.queues) release(lab.queues);
    lab.queues = NULL;
    lab.queue_count = 0;
}

/// At every step that was not prescribed, each thread that could have gone instead makes one
/// branch. So every interleaving is reached from exactly one other.
static void add_branches(void) {
    uint32_t from = lab.current ? lab.current->length : 0;
    uint32_t to = lab.step_count < lab.branch_limit ? lab.step_count : lab.branch_limit;
    for (uint32_t k = from; k < to; k++) {
        const rl_step *step = &lab.steps[k];
        int before = k > 0 ? lab.steps[k - 1].thread : NOBODY;
        uint8_t others = step->enabled & (uint8_t)~step->sleeping & (uint8_t)~(1u << step->thread);
        if ((lab.scenario->faults & RL_FAULT_SKIP_LAST_ALTERNATIVE) && others)
            others &= (uint8_t)~(0x80u >> (__builtin_clz(others) - 24));
        uint8_t sleeping = step->sleeping | (uint8_t)(1u << step->thread);
        for (int i = 0; i < lab.thread_count; i++) {
            if (!has(others, i)) continue;
            int preemptions = step->preemptions + (i != before && has(step->enabled, before));
            int bound = lab.scenario->max_preemptions;
            if (bound >= 0 && preemptions > bound) {
                lab.summary.preemption_bound_reached = true;
                continue;
            }
            branch *b = malloc(sizeof *b + k + 1);
            if (!b) abort();
            b->fingerprint = lab.fingerprints[k];
            b->length = k + 1;
            b->sleeping = lab.scenario->reduce ? sleeping : 0;
            for (uint32_t s = 0; s < k; s++) b->choices[s] = lab.steps[s].thread;
            b->choices[k] = (uint8_t)i;
            push((uint16_t)preemptions, b);
            sleeping |= (uint8_t)(1u << i);
        }
    }
}

// MARK: - Runs

static bool begin_run(void) {
    lab.run++;
    lab.step_count = 0;
    lab.sleeping = 0;
    lab.preemptions = 0;
    lab.last = NOBODY;
    lab.redundant = false;
    lab.branch_limit = UINT32_MAX;
    lab.status = RL_COMPLETE;
    lab.race_count = 0;
    lab.cell_count = 0;
    lab.locks_held = 0;
    lab.started_count = 0;
    lab.thread_count = lab.scenario->set_up(lab.scenario->context);
    if (me->doomed) give_up();
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        t->started = t->finished = t->unreported = t->spinning = false;
        t->on = NULL;
        t->last_step = -1;
        t->accesses = t->visit_count = 0;
        t->locks_held = 0;
        memset(t->held, 0, sizeof t->held);
        memset(&t->clock, 0, sizeof t->clock);
        t->clock.at[i] = 1;
    }
    return lab.thread_count > 0;
}

static void fill_in(rl_run *run) {
    run->status = lab.status;
    run->step_count = lab.step_count;
    run->steps = lab.steps;
    run->race_count = lab.race_count;
    run->races = lab.races;
    run->misfit_step = lab.misfit_step;
    run->misfit_thread = lab.misfit_thread;
    run->blocked_thread = NOBODY;
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        run->accesses[i] = t->accesses;
        rl_waiting *w = &run->waiting[i];
        *w = (rl_waiting){.finished = t->finished, .spinning = t->spinning, .holder = NOBODY,
                          .kind = t->kind, .address = t->address, .pc = t->pc};
        if (t->finished || t->kind != RL_LOCK) continue;
        cell *c = cell_at(t->address);
        w->holder = c->owner;
        w->holder_pc = c->owner_pc;
    }
}

/// Gives up the bodies that stand at a point and will not get another turn.
static void dismiss_the_rest(void) {
    for (int i = 0; i < lab.thread_count; i++) {
        thread *t = &lab.threads[i];
        if (!t->started || t->finished || !t->on || t->on->doomed) continue;
        t->on->doomed = true;
        gate_open(&t->on->turn);
    }
}

/// Judges the run that has just ended. Returns whether to go on.
static bool end_run(void) {
    if (lab.status != RL_COMPLETE) dismiss_the_rest();
    bool go_on = true;
    if (lab.redundant) {
        lab.summary.redundant++;
    } else {
        if (lab.status != RL_NOT_THE_SAME && lab.status != RL_MISFIT) lab.summary.runs++;
        rl_run run = {0};
        fill_in(&run);
        go_on = lab.scenario->finished(lab.scenario->context, &run);
        if (me->doomed) give_up();
    }
    free_what_was_kept();
    bool ends_all = lab.status == RL_NOT_THE_SAME || lab.status == RL_MISFIT ||
                    lab.status == RL_TOO_LONG;
    if (ends_all) lab.summary.status = lab.status;
    bool only_this = lab.scenario->schedule && !lab.scenario->beyond;
    if (ends_all || !go_on || only_this) return false;
    add_branches();
    return true;
}

/// The schedule with which the scenario says to begin, if it does.
static branch *given_schedule(void) {
    const rl_scenario *s = lab.scenario;
    if (!s->schedule) return NULL;
    branch *b = calloc(1, sizeof *b + s->schedule_length);
    if (!b) abort();
    b->length = s->schedule_length;
    memcpy(b->choices, s->schedule, s->schedule_length);
    return b;
}

/// Between two runs. Returns the thread to begin with, or NOBODY when there is nothing to do.
static int next_run(void) {
    if (!lab.begun) {
        lab.begun = true;
        lab.current = given_schedule();
    } else {
        bool go_on = end_run();
        if (lab.current) release(lab.current);
        lab.current = go_on ? pop() : NULL;
        if (lab.current && lab.summary.runs >= lab.scenario->max_runs) {
            lab.summary.run_bound_reached = true;
            release(lab.current);
            lab.current = NULL;
        }
        if (!lab.current) return NOBODY;
    }
    if (!begin_run()) return NOBODY;
    return lab.started_count++;
}

/// What earlier bodies left on the stack would otherwise show through where this one has not
/// written yet, and a thread that spins would look changed in one run and the same in another.
__attribute__((noinline)) static void clean_stack(void) {
    volatile char room[16 * 1024];
    memset((char *)room, 0, sizeof room);
    __asm__ volatile("" ::"r"(room) : "memory");
}

static void run_body(int index) {
    thread *t = &lab.threads[index];
    t->on = me;
    me->thread = index;
    me->stack_base = (uintptr_t)__builtin_frame_address(0);
    clean_stack();
    lab.scenario->body(lab.scenario->context, index);
    me->thread = NOBODY;
    if (me->doomed) give_up();
    notice_unlocks(t);
    report_last_step(t);
    t->started = t->finished = true;
}

static void become_idle(void) {
    me->next_idle = lab.idle;
    lab.idle = me;
}

/// What comes after the end of a body. Returns what this worker is to do now.
static int after_body(void) {
    if (lab.started_count < lab.thread_count) return lab.started_count++;
    int next = decide();
    if (next == NOBODY) return ENGINE;
    become_idle();
    hand_over(lab.threads[next].on);
    return NOBODY;
}

static void *work(void *argument) {
    me = argument;
#if defined(__linux__)
    me->number = (uint32_t)syscall(SYS_gettid);
#endif
    if (setjmp(me->base)) return NULL;
    for (;;) {
        gate_wait(&me->turn, NULL);
        bind_to_processor(me);
        int task = me->assigned;
        while (task != NOBODY) {
            atomic_fetch_add_explicit(&lab.progress, 1, memory_order_relaxed);
            if (task == ENGINE) {
                task = next_run();
                if (task != NOBODY) continue;
                become_idle();
                gate_open(&lab.done);
            } else {
                run_body(task);
                task = after_body();
            }
        }
    }
}

// MARK: - The watcher

/// Whether a thread sleeps, and how often it has been switched away from so far.
static bool sleeps(const worker *w, uint64_t *switches) {
#if defined(__linux__)
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/self/task/%u/status", w->number);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool asleep = false;
    unsigned long voluntary = 0, other = 0;
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "State:", 6) == 0) asleep = strpbrk(line + 6, "SD") != NULL;
        sscanf(line, "voluntary_ctxt_switches: %lu", &voluntary);
        sscanf(line, "nonvoluntary_ctxt_switches: %lu", &other);
    }
    fclose(file);
    *switches = voluntary + other;
    return asleep;
#elif defined(__APPLE__)
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    kern_return_t result = thread_info(pthread_mach_thread_np(w->pthread), THREAD_BASIC_INFO,
                                       (thread_info_t)&info, &count);
    *switches = (uint64_t)info.user_time.seconds * 1000000 + (uint64_t)info.user_time.microseconds;
    return result == KERN_SUCCESS && info.run_state == TH_STATE_WAITING;
#endif
}

static uintptr_t seen_frames[RL_MAX_FRAMES];
static _Atomic int seen_frame_count;

static void look_around(int number) {
    (void)number;
    void *frames[RL_MAX_FRAMES];
    int count = backtrace(frames, RL_MAX_FRAMES);
    for (int i = 0; i < count; i++) seen_frames[i] = (uintptr_t)frames[i];
    atomic_store(&seen_frame_count, count);
}

/// Asks a thread where it is.
static uint32_t frames_of(worker *w) {
    struct sigaction action = {0}, before;
    action.sa_handler = look_around;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, &before);
    atomic_store(&seen_frame_count, -1);
    pthread_kill(w->pthread, SIGURG);
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 1000 && atomic_load(&seen_frame_count) < 0; i++) nanosleep(&moment, NULL);
    sigaction(SIGURG, &before, NULL);
    int count = atomic_load(&seen_frame_count);
    return count < 0 ? 0 : (uint32_t)count;
}

/// Ends an exploration whose running thread will not hand over any more.
static void stop(rl_status status) {
    worker *lost = lab.running;
    lab.status = lab.summary.status = status;
    lab.summary.runs++;
    rl_run run = {0};
    fill_in(&run);
    run.blocked_thread = lost->thread;
    run.frame_count = frames_of(lost);
    memcpy(run.frames, seen_frames, sizeof run.frames);
    lost->doomed = true;
    dismiss_the_rest();
#if defined(__linux__)
    // If it runs on for ever it shall do so only when nobody else wants the processor.
    struct sched_param parameter = {0};
    sched_setscheduler((pid_t)lost->number, SCHED_IDLE, &parameter);
#endif
    lab.scenario->finished(lab.scenario->context, &run);
    // What was kept may still be in use by the thread that is lost.
    lab.kept_count = 0;
    if (lab.current) release(lab.current);
    lab.current = NULL;
}

/// Looks at the running thread now and then. One that sleeps elsewhere than at a gate, without
/// having been scheduled for a second, waits for something that will not come: all the others
/// that could bring it stand at their gates.
static void watch(void) {
    const struct timespec interval = {0, 50 * 1000 * 1000};
    const int asleep_long_enough = 20, silent_long_enough = 400;
    uint64_t progress = 0, switches = 0;
    int asleep = 0, silent = 0;
    while (!gate_wait(&lab.done, &interval)) {
        uint64_t now = atomic_load(&lab.progress), switches_now = 0;
        if (now != progress) {
            progress = now;
            asleep = silent = 0;
            continue;
        }
        silent++;
        bool still = sleeps(lab.running, &switches_now) && switches_now == switches;
        switches = switches_now;
        asleep = still ? asleep + 1 : 0;
        if (asleep >= asleep_long_enough) return stop(RL_BLOCKED);
        if (silent >= silent_long_enough) return stop(RL_SILENT);
    }
}

rl_summary rl_explore(const rl_scenario *scenario) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    static bool made;
    pthread_mutex_lock(&one_at_a_time);
    if (!made) {
        made = true;
        gate_make(&lab.done);
        // The first call loads what it needs; in a signal handler that would be too late.
        void *frame;
        backtrace(&frame, 1);
    }
    lab.scenario = scenario;
    memset(&lab.summary, 0, sizeof lab.summary);
    lab.thread_count = 0;
    lab.current = NULL;
    lab.begun = false;
#if defined(__linux__)
    lab.processor = sched_getcpu();
#endif
    assign(ENGINE);
    watch();
    forget_branches();
    rl_summary summary = lab.summary;
    pthread_mutex_unlock(&one_at_a_time);
    return summary;
}

const char *rl_unavailable(void) { return NULL; }

#else

// MARK: - Under ThreadSanitizer

_Thread_local int rl_active;

rl_summary rl_explore(const rl_scenario *scenario) {
    (void)scenario;
    return (rl_summary){0};
}

void rl_listen(void) {}
void rl_deafen(void) {}
void rl_ignore(void) {}
void rl_attend(void) {}
uint32_t rl_note(const void *place) { (void)place; return UINT32_MAX; }
bool rl_on_lab_thread(void) { return false; }
bool rl_lock_is_held(void) { return false; }
uint64_t rl_heard(void) { return 0; }

const char *rl_unavailable(void) {
    return "this build runs under ThreadSanitizer, which listens where the lab would: "
           "build without --sanitize=thread";
}

#endif
