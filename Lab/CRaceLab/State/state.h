// The state of the exploration, which all files share, and what each thread knows about itself.
// Only the thread whose turn it is changes it, or the watcher, when that thread is lost. The
// parkers through which threads hand over make the changes of one thread visible to the next.
//
// Includes, and with them calls, run in one direction, from the first of these folders to the last:
// Child, Primitives, Scheduler, Model, Search, Symbols, State, Platform. No file calls one that
// calls it back. What a primitive does between two runs it registers: see Scheduler/operation.h.

#pragma once

#include "Platform/build.h"
#include "Platform/end.h"
#include "Platform/parker.h"
#include "State/of_run.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>

#define NO_THREAD (-1)
#define ENGINE (-2)    // not a thread of the scenario: the work between two runs
#define OBSERVER (-3)  // nor this: reads the state between two steps
#define JOB (-4)       // nor this: runs a job of a task, see task.c

/// The place from which an entry point was called: the return address in the code under test, and
/// the top of the caller's stack.
typedef struct {
    uintptr_t pc;
    uintptr_t stack;
} rl_place;

#define RL_CALLER                                       \
    ((rl_place){(uintptr_t)__builtin_return_address(0), \
                (uintptr_t)__builtin_frame_address(0) + 2 * sizeof(void *)})

_Static_assert(RL_MAX_THREADS <= 8 * sizeof(rl_thread_set), "a bit for each thread");

/// The latest moment of each thread that is known, and that is ordered. An atomic operation makes
/// its value known whatever its memory ordering; whether it creates a happens-before edge depends
/// on the ordering.
typedef struct {
    uint32_t at[RL_MAX_THREADS];       // what can be known: every atomic operation passes it on
    uint32_t ordered[RL_MAX_THREADS];  // what happens-before: never more than `at`
    uint64_t slept;                    // for how long threads have slept one after another
} vector_clock;

/// The value of an atomic variable.
typedef struct {
    uint64_t low, high;
} atomic_value;

/// What the next step of a thread reads, if its operation chooses; see old_values.c.
typedef struct {
    size_t variable;  // its number
    int order;        // the memory ordering
    bool compares;    // it is an exchange that succeeds with this value
    atomic_value expected;
    uint32_t store;  // the number of the store that it reads, from 1
} atomic_read;

/// A shadow cell: what is known about an address.
typedef struct {
    int8_t writer;
    uint32_t write_clock, write_step;
    uint8_t write_kind, accesses;  // the second: to a word that begins here
    uintptr_t write_pc;
    rl_thread_set is_part;  // threads whose access here was part of a larger one …
    uint8_t bytes;          // … and the bytes of a word that smaller accesses have touched
    uint32_t read_clock[RL_MAX_THREADS], read_step[RL_MAX_THREADS];
    uintptr_t read_pc[RL_MAX_THREADS];
    vector_clock released;  // by atomic writes (`ordered`: release sequences), or handed over
    uintptr_t handed_over_pc;
    uint8_t on_stack_of;       // the thread whose stack contains the address, + 1; 0: unknown
    size_t counted, referent;  // index + 1 of an object, or of a weak reference's target; or 0
    bool is_semaphore;
    int64_t made_with;  // the initial count of a semaphore
    uint32_t left_in;   // of an actor: how many steps there were when a task last left it
    size_t variable;    // the number of an atomic variable whose stores are kept, + 1; or 0
} cell;

/// Work that was sent to a Dispatch queue and is not done yet, or a thread in line for a concurrent
/// one.
typedef struct {
    const void *work;
    bool exclusive;  // no other work may run on the queue meanwhile
    int8_t by;       // the thread that sent it …
    uint32_t since;  // … and that thread's clock at that moment
} in_line;

/// What is known about something that threads wait for: a lock of any kind, a semaphore, a group, a
/// queue.
typedef struct {
    uintptr_t address;
    int8_t owner;
    uint32_t depth;  // how many more times the owner of a recursive lock has taken it
    uintptr_t owner_pc;
    rl_thread_set sharers;  // the readers
    uint32_t shared_depth[RL_MAX_THREADS];
    uintptr_t shared_pc[RL_MAX_THREADS];
    int64_t count, count_at_first;
    // Signals the real semaphore, if it is one, or takes from it if the number is negative.
    void (*change)(void *semaphore, int64_t by);
    int64_t taken;                 // from the real semaphore, at the end of the run
    vector_clock released;         // by the last owner, or by all threads that signaled
    vector_clock shared_released;  // by the readers so far: only the next owner acquires it
    bool is_followed;              // work is registered to follow when the group has finished
    bool is_of_item;               // it is the group of a work item: Dispatch uses it
    in_line *line;                 // of a Dispatch queue: work that was sent and is not done yet
    uint32_t line_count, line_capacity;
    uint32_t left_line[RL_MAX_THREADS];  // how many steps there were when a thread last left it …
    uint32_t exclusive_left_line;        // … and when one that was alone did
} lock;

/// How often other threads have changed what a thread has looked at.
typedef struct {
    uint32_t all, for_good;  // not only by taking or releasing a lock
} changes_seen;

/// What is known about an object, or about other memory that has been freed.
typedef struct {
    uint32_t last_release;  // its number; 0: none
    bool is_freed;          // and its memory is kept, see heap.c
    rl_thread_set freed_again_by;
    bool is_own_lock;          // a word, and no part of a `Mutex`, see rl_is_mutex_exchange
    bool is_made;              // in this run, so outside code does not know it
    bool has_weak_references;  // of the program; libraries may have others
} object_record;

/// A block of memory that a thread has allocated during the run.
typedef struct {
    uintptr_t start;
    size_t size;
    size_t words;                 // how many of its words are looked at
    uint64_t looked_at_in;        // number of the last fingerprint that includes it
    uint32_t since;               // the thread's clock at the allocation
    uintptr_t written_at;         // the place of its last write before the thread released anything
    bool is_freed, is_passed_on;  // an atomic operation has written its address somewhere
} block_of_memory;

/// Other memory: a block that the set-up of a run has allocated, a part of the stack of a task, or
/// what an access reads or writes.
typedef struct {
    uintptr_t start;
    size_t size;
} extent;

/// A lock that a thread released at the end of its last step. Until the thread's next step, another
/// thread's attempt to take the lock could as well have come before the release.
typedef struct {
    lock *lock;
    uint32_t since;  // the thread's clock at that moment
    bool shared;     // it was a reader's share of the lock
} deferred_release;

/// A real lock, which the engine releases if its holder is abandoned.
typedef struct {
    void *lock;
    void (*release)(void *lock);
    bool is_of_thread;  // it knows which thread of the operating system has taken it
    bool silent;        // the thread sets the word to 0 without a call
    uint32_t since;     // the step in which it was taken
} held_lock;

/// A place on the stack to which the thread jumps when its body is abandoned, instead of the
/// worker's base. It is needed where code under test runs inside a function that must return: the
/// caller sets `me->landing` (`setjmp(landing.at)`), and calls `rl_continue_giving_up` when that
/// function has returned.
typedef struct rl_landing {
    jmp_buf at;
    struct rl_landing *outer;
} rl_landing;

/// A checked access to memory that has begun and not ended yet.
typedef struct {
    const void *buffer;  // identifies it
    uintptr_t address;
    uint32_t since;  // the thread's clock at its beginning
    uintptr_t pc;
    uintptr_t begun_at;  // the call, which may be in an accessor
    int32_t step;        // the thread's last one by then
    bool modifies;
    bool may_be_by_pointer;  // Swift code has not touched the variable since
} open_access;

/// A release of a reference that is in progress.
typedef struct rl_release_in_progress {
    const void *object;
    struct rl_release_in_progress *outer;
} rl_release_in_progress;

typedef struct worker worker;
typedef struct thread thread;
typedef struct rl_operation rl_operation;  // see Scheduler/operation.h

struct thread {
    rl_origin origin;
    uint32_t starts;  // how many threads it has started
    bool started, finished;
    bool timed, timed_out;          // the wait may time out; it did
    uint64_t deadline, latest;      // when such a wait ends, and has ended for sure; 0: unknown
    bool asleep;                    // until a thread signals the condition `asleep_on`
    bool idle;                      // only idle workers are left, and this one ends now
    const rl_operation *operation;  // its next step …
    uint8_t kind;                   // … the kind of it …
    uintptr_t address, pc, stack;   // … its address, and where in the code
    lock *waits_for;                // what its next step takes, or NULL
    const void *comes_for;  // the queued work for which it is about to take a queue, or NULL
    uintptr_t asleep_on;
    uint32_t asleep_since;  // a step number
    bool is_spurious;       // it wakes up without a signal
    int8_t joins;           // the thread that it is about to join; NO_THREAD: a team
    uintptr_t team;         // the team with which it is joined; 0: none
    worker *on;
    void (*own_body)(void *);  // of a thread that the scenario does not have; otherwise NULL
    void *argument;
    worker *starter;    // waits until this thread has reached its first point
    pthread_t pthread;  // of a thread that another thread has started
    bool is_added, is_detached, serves_queue;  // the last: it does what is sent to a queue
    vector_clock clock;
    uint32_t read[RL_MAX_THREADS];    // by atomic reads; ordered from the next acquire fence on
    uint32_t fenced[RL_MAX_THREADS];  // what was ordered at the last release fence
    int order;                        // the memory ordering of its next atomic operation
    bool chooses_value;               // it can read an old value
    atomic_read reads;                // what it reads …
    atomic_value writes;              // … and writes, if stores are kept
    uint32_t old_reads;               // how many old values it has read
    uint32_t advanced_at;  // its clock when something other than an atomic operation advanced it …
                           // … first since its last event, see old_values.c; 0: nothing has
    uint32_t told;         // its clock when a step last published it …
    uint32_t told_in;      // … and how many steps there were at that moment
    int32_t last_step;     // -1 before its first
    bool unreported;       // `stepped` has not been called for its last step yet
    uint32_t accesses;
    uint32_t quiet_at;  // how many there were at its last step, if others have seen nothing since
    int32_t loaded_in;  // the step, + 1, in which it has loaded a weak reference
    uint32_t locks_held;
    held_lock *held;  // in the order in which they were taken
    size_t held_count, held_capacity;
    deferred_release *released;  // since its last step
    size_t released_count, released_capacity;
    bool early;    // its attempt comes before such a release of another thread
    lock *missed;  // the lock of its last early attempt
    bool spinning;
    uint64_t draws;                    // how many random numbers it has drawn
    uint32_t clock_reads;              // how many times in a row it has read the clock …
    uint32_t clock_read_at;            // … and how many accesses it had made by then
    bool has_read_clock;               // so its state depends on the time
    bool repeats;                      // it comes back to its next step in the same state
    rl_release_in_progress *releases;  // the innermost one
    uint32_t moment;        // the number of a moment at which it released objects; 0: none …
    uint32_t moment_after;  // … and how many accesses it had made by then
    open_access *open;      // one within another
    size_t open_count, open_capacity;
    uintptr_t begun, begun_at;  // the last access that was announced: where, and its place …
    extent begun_in;            // … and the block there, once it was looked up
    bool begun_in_is_known;
    bool modifies;             // it has modified memory without an announcement
    uintptr_t announced;       // the address that it has announced to modify; 0: none …
    uint32_t announced_after;  // … and how many accesses it had made by then …
    bool has_read;             // … and whether it has read it since
    bool has_looked;           // it has run its loop once more, see decide.c
    bool is_vain;              // it spins although other threads take and release locks
    size_t round;              // how many of the last visits belong to the spinning loop …
    uint32_t round_began;      // … and how many accesses it had made when that began
    block_of_memory *blocks;
    size_t block_count, block_capacity;
    size_t block_words;    // of all blocks
    uint32_t *by_address;  // the same, sorted by address
    size_t by_address_capacity;
    uintptr_t lowest, highest;  // the bounds of those blocks
    changes_seen changes;
    struct visit *visits;
    size_t visit_count, visit_capacity;
    uint64_t *copied;  // the copies of its state
    size_t copied_count;

    // Of a task, see task.c.
    bool is_task;
    uintptr_t task;  // its address; 0: unknown
    uint8_t priority;
    uint32_t jobs;                       // how many times a thread has begun to run it
    extent *frames;                      // its stack, which is on the heap …
    uintptr_t frames_begin, frames_end;  // … between these addresses
    size_t frame_count, frame_capacity;
    bool is_away;             // no operating-system thread runs it
    bool is_enqueued;         // it waits in an executor's queue …
    bool is_sent;             // … and its next job has left the runtime
    int parent;               // the task of which it is a child, or NO_THREAD
    bool is_cancelled;        // such a child, and the lab has noticed it
    bool is_ending;           // it has made its last step
    bool is_of_runtime;       // its code belongs to a library
    void *job;                // the job that makes its next step …
    void (*work)(void *job);  // … and its function; NULL: it is at a point in the code
    void *yield;              // such a job, once the task is suspended
    void (*work_of_yield)(void *job);
    worker *lane;                                            // the worker that ran it last
    void (*describe)(const thread *t, rl_waiting *waiting);  // what it waits for while it is away
    void (*leave)(int index);  // called when the body of the thread ends, which is now a task
    uintptr_t actor;           // on which it runs or for which it waits; 0: none
    uintptr_t left;            // the actor that it left when it was suspended, or 0
    bool is_arriving;          // it is arriving at an actor, but does not occupy it yet
    bool is_yielding;          // it is enqueued again after a yield
    bool was_resumed;          // before it was suspended …
    vector_clock resumed;      // … by a thread with this clock
    bool is_registering;       // it registers a handler: the runtime releases, but it goes on
    bool is_resuming;          // it resumes a task, in a call that has made its point already
    enum {
        NO_CONTINUATION,
        IS_PENDING,
        IS_RESUMED
    } continuation;               // the last one begun by the program …
    uint32_t continuation_began;  // … at this moment of the task; 0: it is the first one
    uint32_t delay;               // the number of the delay after which it goes on …
    rl_thread_set ends_after;     // … and those whose delays have to end before; see delays.c
    thread *alarm;                // the task of the runtime that wakes it up when it sleeps …
    thread *sleeper;              // … and of such a task, the one that it wakes up
    uint32_t sleeps;              // how often it has slept after it has read the clock
    bool falls_asleep;            // it has set the alarm, and is not suspended yet
    uintptr_t asleep_above;       // from this address on, its stack belongs to the sleep
};

/// An operating-system thread that runs the bodies of scenario threads.
struct worker {
    pthread_t pthread;
    uint32_t number;  // by which the operating system, and therefore `Mutex`, knows it
    int processor;    // the processor that it is bound to; -1: none
    parker turn;
    int assigned;  // what to do at its turn
    int thread;    // the thread whose body it runs, or NO_THREAD
    enum {
        STAYS,
        IS_DISMISSED,      // its body is abandoned at the end of the run
        ENDS_RUN,          // it has found that the run is over, and abandons its body
        IS_LOST,           // it no longer hands over, so the watcher has given it up
        OBSERVES_NO_MORE,  // it abandons an observation that would wait forever
    } fate;
    rl_landing base;
    rl_landing *landing;   // where to jump when the body is abandoned
    uintptr_t stack_base;  // its stack reaches from here …
    uintptr_t stack_end;   // … to here, while it waits for its turn
    uintptr_t body;        // the top of the stack where the lab called the body
    uintptr_t job_frame;   // of the runtime function that began the current job
    worker *next_idle;
    void *(*start)(void *);  // the function of a thread that the code under test has started
    void *argument;
    int rounds_of_goodbye;
    uintptr_t refused_at;   // the place of such an exchange, see rl_is_mutex_exchange
    bool is_main;           // it acts as the main thread of the process
    bool runs_jobs;         // of tasks
    bool is_deaf;           // it ignores everything until such a job begins
    int base_thread;        // the thread in whose body it runs jobs, or NO_THREAD
    bool becomes_task;      // the thread whose body it runs becomes a task
    bool is_creating;       // it is creating a task …
    uintptr_t creates_on;   // … on this actor; 0: on none …
    uintptr_t creates_at;   // … at this place …
    bool creates_child;     // … that the current task waits for
    vector_clock last_job;  // only for an injected fault
    void *job;              // the job to run
    void (*job_work)(void *job);
    vector_clock before_job;  // the clock of a job whose task is not known yet …
    uint32_t left_in;         // … and how many steps there were when its actor was left
};

/// What is known of one run, made anew for each. Files that keep more of it to themselves name it in
/// `RL_OF_RUN`.
struct run {
    int thread_count;   // grows when a thread starts another one
    int first_count;    // how many the scenario begins with
    int started_count;  // how many of these have been started
    thread *threads;    // room for RL_MAX_THREADS
    uint32_t step_count;
    rl_thread_set sleeping, asleep_early;    // see `rl_plan`
    uint8_t sleeping_kinds[RL_MAX_THREADS];  // the kinds of their steps, as executed
    rl_thread_set sleeping_in_runtime;       // those whose steps have unannounced effects
    uint32_t slept[RL_MAX_THREADS];          // see `rl_plan`
    bool group_order_shows;  // the one in which a group was entered and left, see group_order.c
    uint8_t free_before;     // how the current step's lock was available before, RL_FREE_…
    bool has_more_steps;     // the run has shown something new that matters: explore again
    uint32_t preemptions;
    int last;                  // the thread that made the last step
    uint64_t time;             // of the model, in nanoseconds …
    int jumps;                 // … and how often it has passed for loops that read the clock
    void (*step_ended)(void);  // called at the end of each step; NULL: nothing to do
    bool redundant;
    uint32_t branch_limit;  // no branches from this step on
    rl_status status;
    uint32_t misfit_step;
    int misfit_thread;
    bool misfit_early;

    const char *outside;  // the effect outside the scenario, if any, and its place
    uintptr_t outside_pc;
    bool looks_again;     // spinning threads repeat their loops, see decide.c …
    bool looks_in_vain;   // … and have not done anything new
    uint32_t looks_from;  // the step at which that began
    size_t races_before_look;
    rl_race *races;
    size_t race_count, race_capacity;
    bool listens_to_counts;  // retains and releases are observed

    bool noted_under_lock;  // see rl_noted_under_lock
    bool is_first;          // of the exploration
    bool is_setting_up;
    bool is_judging;   // the code that judges a complete run, of which nothing is left to do …
    bool judge_waits;  // … waits for something that will not happen …
    rl_waiting judge;  // … which is this
    extent *set_up_blocks;
    size_t set_up_count, set_up_capacity;
    void **kept;  // memory of the program that it has freed
    size_t kept_count, kept_capacity;
    uint64_t marks_of_kept;  // a bit for each, which others may share
};

/// What lasts for an exploration.
struct exploration {
    const rl_scenario *scenario;
    bool begun;
    rl_summary summary;
    int64_t began, reported;  // milliseconds: the start, and the last progress report
    const rl_plan *current;   // what is prescribed for this run; NULL: nothing
};

/// What lasts as long as the process, and the run in it.
struct laboratory {
    struct run run;

    rl_step *steps;
    uint64_t *fingerprints;  // of the execution before each step
    uint32_t step_capacity;
    void (*run_job)(void);        // what a worker does that was assigned a job, see task.c
    void *(*work)(void *worker);  // what a worker does, see workers.c
    worker *idle;
    worker *spare;  // workers of threads that have ended, see thread.c
    worker *running;
    int processor;
    parker done;
    parker gone;                // opened by each abandoned body
    _Atomic uint64_t progress;  // grows by RL_PROGRESS, see rl_makes_progress
    _Atomic int own_work;       // if not 0, the watcher ignores the running thread
};

// The program may define globals with these names, and the linker would merge them.
#define lab rl_lab
#define me rl_me

extern struct laboratory lab;
extern struct exploration rl_exploration;
extern _Thread_local worker *me;

static inline rl_thread_set set_of(int index) { return (rl_thread_set)1 << index; }
static inline bool has(rl_thread_set set, int index) {
    return index >= 0 && index < RL_MAX_THREADS && (set >> index & 1);
}
/// A spinning thread is not scheduled; nor is the alarm of a task that sleeps in a loop.
static inline void rl_set_spinning(thread *t, bool spins) {
    t->spinning = spins;
    if (t->is_away && t->alarm) t->alarm->spinning = spins;
}
static inline thread *my_thread(void) {
    RL_REQUIRE(me && me->thread >= 0, "this is no thread of the scenario");
    return &lab.run.threads[me->thread];
}

// MARK: - The calling thread

/// Not 0 while the accesses of the calling thread are steps.
extern _Thread_local int rl_active;

/// From now on the lab ignores the accesses of the calling thread.
void rl_hear_no_more(void);
/// Whether the calling thread is between `rl_ignore` and `rl_attend`.
bool rl_is_ignoring(void);

/// Whether the calling thread is a lab thread; and whether it sets up a scenario or judges a run.
bool rl_is_of_lab(void);
bool rl_is_between_runs_here(void);
/// Whether the calling thread acts as the main thread of the process.
bool rl_stands_for_main_thread(void);
/// Sets whether it does. Returns the previous value.
bool rl_stand_for_main_thread(bool is_main);

/// Whether a liberty of the scenario is on, see RL_LIBERTY_…
bool rl_gives(unsigned liberty);
bool rl_has_fault(unsigned fault);

enum { RL_GIVEN_UP = 1, RL_PROGRESS = 2 };

/// Called by the running thread before it uses the engine: the watcher sees that it goes on.
/// Returns false if the watcher has given it up.
bool rl_makes_progress(void);

// MARK: - Abandoning bodies

/// Abandons the body that the calling thread is in, which will never finish.
_Noreturn void rl_give_up(void);
/// The same; also ends the run with this status.
_Noreturn void rl_end_run_with(rl_status status);
_Noreturn void rl_end_run_with_too_many_threads(void);
void rl_continue_giving_up(void);
