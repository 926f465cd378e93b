// The state of the exploration, which all files share, and what each thread says of itself. All of it
// belongs to the thread whose turn it is; the parkers through which one thread hands over to another
// are what makes the changes of the one visible to the other.
//
// Includes, and with them calls, run one way, from the first of these folders to the last: Child, Hooks,
// Scheduler, Model, Search, Symbols, State, Platform. The exceptions are in Scheduler/between_runs.h.

#pragma once

#include "Platform/build.h"
#include "Platform/end.h"
#include "Platform/parker.h"
#include "State/place.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#define NO_THREAD (-1)
#define ENGINE (-2)  // not a thread of the scenario: the work between two runs
#define OBSERVER (-3)  // nor this: reads the state between two steps
#define JOB (-4)  // nor this: runs a job of a task, see tasks.c

_Static_assert(RL_MAX_THREADS <= 8 * sizeof(rl_thread_set), "a bit for each thread");

/// Up to which of its moments each thread is known. An atomic operation tells its values to others
/// whatever its memory ordering; what happens before what depends on the ordering.
typedef struct {
    uint32_t at[RL_MAX_THREADS];       // what can be known: every atomic operation tells everything
    uint32_t ordered[RL_MAX_THREADS];  // what happens before: never more than `at`
} vector_clock;

/// What is known of one place in memory.
typedef struct {
    int8_t writer;
    uint32_t write_clock, write_step;
    uint8_t write_kind;
    uintptr_t write_pc;
    uint32_t read_clock[RL_MAX_THREADS], read_step[RL_MAX_THREADS];
    uintptr_t read_pc[RL_MAX_THREADS];
    vector_clock released;      // by atomic writes (`ordered`: the release sequences), or handed over
    uintptr_t handed_over_pc;
    size_t counted, referent;   // an object, and that of a weak reference: see reference_counts.c
    bool is_semaphore;
    int64_t made_with;          // the count of a semaphore
    uint32_t left_in;           // of an actor: how many steps there were when a task left it last
} cell;

/// Work that was sent to a queue of Dispatch and is not done yet.
typedef struct {
    const void *work;
    bool exclusive;             // nothing else may be done on the queue meanwhile
    int8_t by;                  // who sent it …
    uint32_t since;             // … and that thread's clock at the time
} in_line;

/// What is known of something for which threads wait: a lock of any kind, a semaphore, a queue.
typedef struct {
    uintptr_t address;
    int8_t owner;
    uint32_t depth;             // how often the owner of a recursive lock has taken it again
    uintptr_t owner_pc;
    rl_thread_set sharers;      // the readers
    uint32_t shared_depth[RL_MAX_THREADS];
    uintptr_t shared_pc[RL_MAX_THREADS];
    bool is_semaphore;
    int64_t count, count_at_first;
    vector_clock released;      // by the last owner, or by all who signalled
    vector_clock shared_released;  // by the readers so far: of interest to the next owner only
    in_line *line;                 // for a queue of Dispatch: what is sent to it and not yet done
    uint32_t line_count, line_capacity;
} lock;

/// A point at which a thread has been since it last changed something.
typedef struct {
    uintptr_t address, pc;
    uint8_t what;               // it was about to do: its kind, and whether it slept
    bool is_changed;            // what is there, by another thread since then …
    bool is_changed_for_good;   // … and not only by a lock that was taken or released
    uint32_t vain_rounds;       // after which only such locks had changed
    uint32_t least_held;        // how few locks the thread has held since then
    uint64_t fingerprint;       // of the thread's state
    size_t block_count;         // how much memory it had allocated …
    size_t recent;              // … and how much when it was here before that
} visit;

/// Memory that a thread has allocated during the run.
typedef struct {
    uintptr_t start;
    size_t size;
    uint64_t looked_at_in;      // the fingerprint of this number
    bool is_freed;
} block_of_memory;

/// A lock that a thread has released at the end of its last step. Until it makes the next one, an
/// attempt of another thread to take the lock may as well come before that.
typedef struct {
    lock *lock;
    uint32_t since;             // the thread's clock at the time
    bool shared;                // it was one of several readers
} deferred_release;

/// A lock of the real world, to be released for a thread that will not come to do it.
typedef struct {
    void *lock;
    void (*release)(void *lock);
    bool silent;                // the thread sets the word to 0 without saying so
    uint32_t since;             // the step in which it was taken
} held_lock;

/// A place in the stack of this thread where it goes when its body is given up, in place of the
/// beginning: a caller of code under test through a function that must return sets one
/// (`setjmp(landing.at)`), and goes on with `rl_continue_giving_up` when that has returned.
typedef struct rl_landing {
    jmp_buf at;
    struct rl_landing *outer;
} rl_landing;

/// A release of a reference that a thread is in the middle of.
typedef struct rl_release_in_progress {
    const void *object;
    struct rl_release_in_progress *outer;
} rl_release_in_progress;

typedef struct worker worker;

typedef struct {
    bool started, finished;
    bool timed, timed_out;      // may go on when no other thread can; did so
    bool asleep;                // until a thread signals the condition `asleep_on`
    bool idle;                  // the run is over but for workers like this one, which end now
    uint8_t kind;               // what it is about to do …
    uintptr_t address, pc;      // … to what, and where
    lock *waits_for;            // NULL unless it is about to take something
    const void *comes_for;      // the work in line for which it is about to take a queue, or NULL
    vector_clock stands_behind; // work that was sent at these times, although no step has passed that on
    uintptr_t asleep_on;
    uint32_t asleep_since;      // a step
    bool is_spurious;           // it wakes up without a signal
    int8_t joins;               // the thread whose end it is about to wait for; NO_THREAD: a team's
    uintptr_t team;             // it is waited for together with the others of its team; 0: none
    worker *on;
    void (*own_body)(void *);   // of a thread that is none of the scenario's; NULL: it is
    void *argument;
    worker *starter;            // waits until this thread has come to its first point
    pthread_t pthread;          // of a thread that another one has started
    bool is_added, is_detached;
    vector_clock clock;
    uint32_t read[RL_MAX_THREADS];    // by atomic reads; ordered from the next acquire fence on
    uint32_t fenced[RL_MAX_THREADS];  // what was ordered at the last release fence
    int order;                  // of the atomic operation that it is about to make
    uint32_t told;              // its clock when it last told others what it had done, in a step …
    uint32_t told_in;           // … and how many steps there were then
    int32_t last_step;          // -1 before its first
    bool unreported;            // `stepped` has not been called for its last step
    uint32_t accesses;
    uint32_t locks_held;
    held_lock *held;            // in the order in which they were taken
    size_t held_count, held_capacity;
    deferred_release *released;          // since its last step
    size_t released_count, released_capacity;
    bool early;                 // its attempt is to come before such a release of another thread
    lock *missed;               // by the last attempt that did
    bool spinning;
    rl_release_in_progress *releases;  // the innermost one
    bool has_looked;            // once more, see spinning.c
    bool is_vain;               // spins although other threads take locks and release them
    size_t round;               // how many of the last visits belong to the loop that spins
    block_of_memory *blocks;
    size_t block_count, block_capacity;
    uint32_t *by_address;       // the same, in the order of their addresses
    size_t by_address_capacity;
    uintptr_t lowest, highest;  // of those blocks
    visit *visits;
    size_t visit_count, visit_capacity;

    // Of a task, see tasks.c.
    bool is_task;
    uintptr_t task;             // its address; 0: not known yet
    bool is_away;               // no thread of the operating system runs it
    bool is_enqueued;           // it stands in line to go on …
    bool is_sent;               // … and its next job has left the runtime
    bool is_ending;             // its last step has been made
    bool is_of_runtime;         // its code is a library's
    void *job;                  // what is run when it makes the step that it stands at …
    void (*work)(void *job);    // … and how; NULL: it stands at a point in the code
    void *yield;                // such a job, as soon as it is away
    void (*work_of_yield)(void *job);
    worker *lane;               // that ran it last
    uintptr_t actor;            // to which it has come, or for which it stands in line; 0: none
    uintptr_t left;             // the actor on which it was when it was suspended, or 0
    bool is_arriving;           // at an actor, and does not have it yet
    bool is_yielding;           // it stands in line again
    bool was_resumed;           // before it was suspended …
    vector_clock resumed;       // … by one that had done all this
    bool is_resuming;           // a task, in a call that has come to its point already
    enum { NO_CONTINUATION, IS_PENDING, IS_RESUMED } continuation;  // the last one that the program began …
    uint32_t continuation_began;  // … at this moment of the task, or at 0: it is the first
    uint64_t time;              // at which it stops sleeping
} thread;

/// A thread of the operating system on which the bodies of scenarios' threads run.
struct worker {
    pthread_t pthread;
    uint32_t number;
    int processor;              // to which it is bound; -1: none
    parker turn;
    int assigned;               // what to do when its turn comes
    int thread;                 // whose body it is in, or NO_THREAD
    enum {
        STAYS,
        IS_DISMISSED,           // its body is given up, and it with it,
        ENDS_RUN,               // or that of the thread that found that no thread can go on,
        IS_LOST,                // or that of one which no longer listens
        OBSERVES_NO_MORE,       // or reading the state, because of a lock that is held
    } fate;
    rl_landing base;
    rl_landing *landing;        // where to go when the body is given up
    uintptr_t stack_base;
    uintptr_t body;             // the top of the stack where the lab calls it
    uintptr_t job_frame;        // of the function of the runtime that has begun the job at hand
    worker *next_idle;
    void *(*start)(void *);     // of a thread that the code under test has started: what it runs
    void *argument;
    int rounds_of_goodbye;
    bool is_main;               // it stands for the main thread of the process
    bool runs_jobs;             // of tasks
    bool is_deaf;               // until such a job begins
    int base_thread;            // within whose body it runs jobs, or NO_THREAD
    bool becomes_task;          // the thread whose body it is in
    bool is_creating;           // a task …
    uintptr_t creates_on;       // … that begins on this actor, or on none
    vector_clock last_job;      // for a planted fault only
    void *job;                  // to be run
    void (*job_work)(void *job);
    vector_clock before_job;    // what happened before a job whose task is not known yet …
    uint32_t left_in;           // … and how many steps there were when its actor was left
};

/// An interleaving that is still to be explored: these choices, then whatever takes the fewest
/// switches.
typedef struct {
    uint64_t fingerprint;       // of what the steps before the last choice have to be
    uint32_t length;
    rl_thread_set sleeping;     // when the last choice is made
    uint8_t choices[];          // threads, with RL_EARLY perhaps
} branch;

struct laboratory {
    const rl_scenario *scenario;
    bool begun;
    rl_summary summary;
    int64_t began, reported;        // in milliseconds: the exploration, and its progress
    uint64_t run;                   // counts all runs of the process

    int thread_count;               // grows when a thread starts another one
    int first_count;                // of those that the scenario has to begin with
    int started_count;              // of the latter
    thread threads[RL_MAX_THREADS];

    rl_step *steps;
    uint64_t *fingerprints;         // of all steps before the one with that index
    uint32_t step_count, step_capacity;
    rl_thread_set sleeping;
    uint8_t sleeping_kinds[RL_MAX_THREADS];  // of the steps of those, as they turned out
    rl_thread_set sleeping_in_runtime;       // those whose steps do more than they announce
    uint8_t free_before;            // what the lock of the present step was free for, RL_FREE_…
    uint32_t preemptions;
    int last;                       // the thread that made the last step
    uint64_t time;                  // of the model, in nanoseconds: tasks sleep until some time
    branch *current;
    bool redundant;
    uint32_t branch_limit;          // no branches from this step on
    rl_status status;
    uint32_t misfit_step;
    int misfit_thread;
    bool misfit_early;

    const char *outside;            // what the lab does not control, if anything, and where that was met
    uintptr_t outside_pc;
    const void **made;              // in this run, and so unknown outside of the scenario
    size_t made_count, made_capacity;

    bool looks_again;               // threads that spin go round once more, see spinning.c …
    bool looks_in_vain;             // … and found nothing
    uint32_t looks_from;            // the step at which that began
    size_t races_before_look;

    rl_race *races;
    size_t race_count, race_capacity;

    bool listens_to_counts;         // retains and releases are noticed

    void **kept;
    size_t kept_count, kept_capacity;

    worker *idle;
    worker *running;
    int processor;
    parker done;
    parker gone;                      // opened by each body that has been given up
    _Atomic uint64_t progress;
    _Atomic int own_work;           // what the running thread does for the lab is not watched
};

// The program may have globals of such names, and the linker knows one of each.
#define lab rl_lab
#define me rl_me

extern struct laboratory lab;
extern _Thread_local worker *me;

static inline rl_thread_set set_of(int index) { return (rl_thread_set)1 << index; }
static inline bool has(rl_thread_set set, int index) {
    return index >= 0 && index < RL_MAX_THREADS && (set >> index & 1);
}
static inline thread *my_thread(void) {
    RL_REQUIRE(me && me->thread >= 0, "this is no thread of the scenario");
    return &lab.threads[me->thread];
}

// MARK: - Who this thread is

/// Not 0 while this thread's accesses are steps. The only thing an entry point looks at when no
/// exploration is under way.
extern _Thread_local int rl_active;

/// From now on this thread's accesses are none of the lab's business.
void rl_hear_no_more(void);
/// Whether an `rl_ignore` of this thread has not come to its `rl_attend`.
bool rl_is_ignoring(void);

/// Whether this is one of the lab's threads; and whether it sets up a scenario, or judges a run.
bool rl_is_of_lab(void);
bool rl_is_between_runs_here(void);
/// The number by which the operating system, and so `Mutex`, knows this thread.
uint32_t rl_thread_number(void);
/// Whether this thread stands for the main thread of the process.
bool rl_stands_for_main_thread(void);
/// From now on it does, or not. Returns whether it did before.
bool rl_stand_for_main_thread(bool is_main);

/// Tells one run from another.
uint64_t rl_run_number(void);
/// Whether the code under test is given a liberty, see RL_LIBERTY_…
bool rl_gives(unsigned liberty);
bool rl_has_fault(unsigned fault);

// MARK: - Giving up

/// Leaves the body that this thread is in, which will never end.
_Noreturn void rl_give_up(void);
/// The same, and ends the run.
_Noreturn void rl_end_run_with(rl_status status);
_Noreturn void rl_end_run_with_too_many_threads(void);

void rl_set_landing(rl_landing *landing);
void rl_remove_landing(rl_landing *landing);
void rl_continue_giving_up(void);
