// What the files of the engine share: the state of the exploration, and what each file does with
// it for the others. The entry points (Hooks) know engine.h only.

#ifndef ENGINE_INTERNAL_H
#define ENGINE_INTERNAL_H

#include "engine.h"

#ifndef RL_WITHOUT_HOOKS

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <time.h>

#if defined(__APPLE__)
#include <dispatch/dispatch.h>
#endif

#define NO_THREAD (-1)
#define ENGINE (-2)  // not a thread of the scenario: the work between two runs
#define OBSERVER (-3)  // nor this: reads the state between two steps
#define JOB (-4)  // nor this: runs a job of a task, see tasks.c

/// Where a thread of the operating system waits for its turn.
typedef struct {
#if defined(__APPLE__)
    dispatch_semaphore_t semaphore;
#else
    _Atomic uint32_t open;
#endif
} parker;

void rl_parker_make(parker *p);
void rl_unpark(parker *p);
/// Returns false if the parker was not opened in time. NULL: waits forever.
bool rl_park(parker *p, const struct timespec *at_most);

_Static_assert(RL_MAX_THREADS <= 8 * sizeof(rl_thread_set), "a bit for each thread");

/// Up to which of its moments each thread is known. An atomic operation tells its values to others
/// whatever its memory ordering; what happens before what depends on the ordering.
typedef struct {
    uint32_t at[RL_MAX_THREADS];       // what can be known: every atomic operation tells everything
    uint32_t ordered[RL_MAX_THREADS];  // what happens before: never more than `at`
} vector_clock;

/// What is known of one place in memory.
typedef struct {
    uintptr_t address;
    uint64_t run;               // of another run: empty
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

/// Locks stay where they are when the table of them grows.
typedef struct {
    uintptr_t address;
    uint64_t run;               // of another run: empty
    lock *lock;
} lock_slot;

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

/// So many rounds of a loop in which nothing is changed for good, although locks are taken and
/// released, are enough to see that it spins.
#define MOST_VAIN_ROUNDS 3

/// A lock that a thread has released at the end of its last step. Until it makes the next one, an
/// attempt of another thread to take the lock may as well come before that.
typedef struct {
    lock *lock;
    uint32_t since;             // the thread's clock at the time
    bool shared;                // it was one of several readers
} release;

/// A signal that can wake any of several threads.
typedef struct {
    uintptr_t condition;
    rl_thread_set waiting;      // those that slept when it was sent
} signal_sent;

/// A lock of the real world, to be released for a thread that will not come to do it.
typedef struct {
    void *lock;
    void (*release)(void *lock);
    bool silent;                // the thread sets the word to 0 without saying so
    uint32_t since;             // the step in which it was taken
} held_lock;

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
    release *released;          // since its last step
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

typedef struct {
    branch **items;
    size_t first, count, capacity;
} branch_queue;

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
    signal_sent *signals;           // to conditions, that have not woken a thread yet
    size_t signal_count, signal_capacity;

    bool looks_again;               // threads that spin go round once more, see spinning.c …
    bool looks_in_vain;             // … and found nothing
    uint32_t looks_from;            // the step at which that began
    size_t races_before_look;

    rl_race *races;
    size_t race_count, race_capacity;

    cell *cells;
    size_t cell_capacity, cell_count;

    lock_slot *lock_slots;          // a hash, as `cells` is
    size_t lock_capacity, lock_count;

    branch_queue *queues;           // one for each number of preemptions
    size_t queue_count;

    rl_misuse *misuses;
    size_t misuse_count, misuse_capacity;

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

// The lab's own memory never goes through the `free` of hook_accesses.c.
#if defined(__GLIBC__)
extern void __libc_free(void *memory);
#define discard(memory) __libc_free(memory)
#else
#define discard(memory) free(memory)
#endif

void *rl_grown(void *old, size_t used, size_t wanted, size_t size);

/// Makes room for one more element of a table.
#define MAKE_ROOM(items, count, capacity, at_first)                                  \
    do {                                                                             \
        if ((count) < (capacity)) break;                                             \
        (capacity) = (capacity) ? 2 * (capacity) : (at_first);                       \
        (items) = rl_grown((items), (count), (capacity), sizeof *(items));           \
    } while (0)

static inline rl_thread_set set_of(int index) { return (rl_thread_set)1 << index; }
static inline bool has(rl_thread_set set, int index) {
    return index >= 0 && index < RL_MAX_THREADS && (set >> index & 1);
}
static inline thread *my_thread(void) { return &lab.threads[me->thread]; }

// happens_before.c

void rl_join_clock(vector_clock *into, const vector_clock *other);
/// Begins a new moment of a thread.
void rl_advance(thread *t);
/// Makes what a thread does from now on later than what it has just told others in a step.
void rl_tick(int index);
/// What an atomic operation of this memory ordering reads and writes. A write that is part of a
/// read-modify-write continues the release sequences that it finds.
void rl_read_atomic(thread *t, int order);
void rl_write_atomic(thread *t, int order, bool is_read_modify_write);
cell *rl_cell_at(uintptr_t address);
/// Checks an access that is neither atomic nor a lock against those before it.
void rl_check_access(int index, thread *t, uint32_t step);

// locks.c

lock *rl_lock_at(uintptr_t address);
/// NULL if nothing is known of it in this run.
lock *rl_known_lock(uintptr_t address);
/// The lock for which a thread at such a point would have to wait, or NULL.
lock *rl_waits_for(rl_kind kind, uintptr_t address);
/// What a lock, a semaphore or a queue can be taken for.
enum { RL_FREE_FOR_ONE = 1, RL_FREE_FOR_READERS = 2, RL_COUNTED = 4, RL_EMPTY = 8 };
uint8_t rl_free_for(uintptr_t address);
/// Whether there is nothing to wait for.
bool rl_is_available(const thread *t);
/// Whether a thread that is about to take a queue has to let other work go first.
bool rl_is_in_line(const thread *t);
/// Whether a thread that is about to take a queue could as well have come after work that `*sender`
/// has sent there meanwhile.
bool rl_could_come_later(const thread *t, int8_t *sender);
/// Takes what the thread has come for. Returns false if a mere attempt found it taken.
bool rl_take(int index, thread *t);
/// Whether there is a signal that can wake a thread.
bool rl_is_signalled(const thread *t);
/// A thread that slept on a condition no longer does: it was woken, or its time was up.
void rl_is_awake(thread *t);
void rl_release_lock(thread *t, uintptr_t address);
/// Notices which of the locks that are released without a word have been released.
void rl_notice_unlocks(thread *t);
/// Releases the real locks of a thread that is given up.
void rl_release_real_locks(thread *t);
/// Gives real semaphores what the threads of a run that is over have signalled.
void rl_settle_semaphores(void);
/// The thread that keeps another one waiting, or NO_THREAD, and where it took what it has.
int rl_holder(const thread *t, uintptr_t *pc);

// deferred_release.c

/// The thread has released a lock at the end of its last step.
void rl_note_release(thread *t, lock *l, bool shared);
/// The releases of this lock have happened: a thread takes it, or has tried again and again.
void rl_is_released(const lock *l, bool for_reader);
/// All releases have happened: no thread can go on, not even to release something.
void rl_everything_is_released(void);
/// Whether the thread is about to attempt to take a lock that another one may be about to release;
/// if so, `*holder` is that other one.
bool rl_can_be_early(const thread *t, int8_t *holder);

// reference_counts.c

void rl_begin_counts_of_run(void);
/// Nothing is known of the code under test yet.
void rl_forget_counts(void);
/// What a step does to the reference count of an object, beside what its point announces.
enum { RL_COUNT = 200, RL_LOOK };
/// Whether steps at this place may depend on reference counts.
bool rl_counts_at(uintptr_t pc);
/// Whether a step at this place may depend on one that changes, or looks at, the count of an object.
bool rl_depends_on_count(uintptr_t pc, uint8_t kind, uintptr_t object);
/// Steps from this one on have never been made.
void rl_forget_counts_from(uint32_t step);
/// Looks through the run that is over. Returns whether there is something that was not known before.
bool rl_learn_counts(void);

// spinning.c

/// A thread has come to a point: finds out whether it spins.
void rl_look_for_spinning(thread *t, uintptr_t stack);
/// What a thread has looked at so far is of no interest for that.
void rl_forget_visits(thread *t);
/// Another thread has changed what is at an address. `is_lasting`: not only a lock was taken.
void rl_change_for(thread *t, uintptr_t address, bool is_lasting);
/// A thread has released a lock.
void rl_holds_fewer(thread *t);
/// Whether a thread that spins takes locks meanwhile, or attempts to.
bool rl_is_busy(const thread *t);
/// What the lab and the C library leave below on the stack differs from run to run. It would show
/// through where a function of the code under test has not written yet.
void rl_clean_stack(void);
/// When no thread is enabled: lets those that spin go round once more.
void rl_look_again(rl_thread_set *enabled);

// engine.c

bool rl_can_go(const thread *t);
/// From now on this thread's accesses are none of the lab's business.
void rl_hear_no_more(void);
/// Whether it makes a difference which of two things is done first.
bool rl_are_dependent(uint8_t kind, uintptr_t address, uint8_t other, uintptr_t other_address);
/// Something was done at an address by a thread.
void rl_did(int by, uint8_t kind, uintptr_t address, bool changes);
/// The same for what the concurrency runtime does in a step, which has not announced it.
void rl_runtime_did(uint8_t kind, uintptr_t address, uint8_t free_for);
/// Decides who makes the next step. NO_THREAD: the run is over, one way or another.
int rl_decide(void);
/// Ends the run from within a thread, which does not return.
_Noreturn void rl_end_run_with(rl_status status);
void rl_report_last_step(thread *t);
void rl_make_thread(int index);
/// Describes the run as it stands.
void rl_fill_in(rl_run *run);

// search.c

branch *rl_given_schedule(void);
branch *rl_next_branch(void);
void rl_forget_branches(void);
/// Writes down, at every step that was not prescribed, who else could have gone.
void rl_add_branches(void);

// reduction.c

/// Whether interleavings that differ only in the order of independent steps are explored once.
bool rl_reduces(void);
void rl_begin_reduced_run(void);
/// The threads that can make the next step, in each way.
typedef struct {
    rl_thread_set enabled, early, time_out, spurious;
} alternatives;

/// Whether the code under test is given a liberty, see RL_LIBERTY_…
bool rl_gives(unsigned liberty);
/// A step is about to be chosen. `is_barrier`: it is possible only because nothing else is.
void rl_come_to_node(const alternatives *could, bool is_barrier);
/// At the last choice that is prescribed: what the steps of the sleeping threads have turned out as.
void rl_fall_asleep_at_branch(void);
/// The choice with which the search wants to go on, or NO_THREAD.
int rl_wished_choice(void);
/// The present step has done something at an address; `free_for`: RL_FREE_… before it.
void rl_note_effect(uint8_t kind, uintptr_t address, uint8_t free_for);
/// Whether a step that announces this may be in the way of what another one does in the concurrency runtime.
static inline bool rl_is_about_tasks(uint8_t kind) {
    return (kind >= RL_ARRIVE && kind <= RL_SUSPENDED) || kind == RL_START || kind == RL_SEND;
}
/// The present step does something that it did not announce, in the concurrency runtime.
void rl_note_runtime(void);
/// Effects that turn out only when the run is over, in the order of their steps.
void rl_note_late_effect(uint32_t step, uint8_t kind, uintptr_t address);
void rl_add_late_effects(void);
/// The present step makes the next one of this thread possible.
void rl_note_order(int thread);
/// The same for the last of the first `step_count` steps.
void rl_note_order_from(uint32_t step_count, int thread);
/// The present step has waited for the end of this thread.
void rl_note_join(int of);
/// This thread makes the next step.
void rl_follow_orders(int thread);
/// The steps from this one on are taken back.
void rl_forget_steps_from(uint32_t step);
/// There are alternatives that no race between two steps shows.
void rl_explore_all_choices(void);
/// After a run: finds out what else there is to explore.
void rl_look_for_races(void);
/// How many steps of each thread come before a moment.
typedef struct {
    uint32_t at[RL_MAX_THREADS];
} step_clock;

/// How many steps of each thread come before a step of the run that was looked at last, and it.
const step_clock *rl_clock_of_step(uint32_t step);
/// Whether a step is one of those that a clock counts.
bool rl_is_step_before(uint32_t step, const step_clock *clock);
/// Whether a thread can go on when just these steps have been made; `next` is the one it makes next,
/// UINT32_MAX if there is none.
bool rl_could_go_on(const step_clock *done, int thread, uint32_t next);
branch *rl_next_reduced_branch(void);
void rl_forget_reduction(void);

// workers.c

void rl_hand_over(worker *w);
void rl_assign(int what);
_Noreturn void rl_give_up(void);
/// Gives up the bodies that stand at a point and will not get another turn.
void rl_dismiss_the_rest(void);
/// Judges the run that is over, if any, and begins the next. Returns the thread to begin with,
/// or NO_THREAD when there is nothing more to do.
int rl_next_run(void);
/// The thread to start next, while there are any that have not been started.
int rl_next_to_start(void);

/// The thread makes the next step, wherever it stands.
void rl_pass_turn(int index);
/// An idle worker, if possible this one.
worker *rl_idle_worker(worker *wanted);
/// Lets others go first, and returns when it is this thread's turn.
uint32_t rl_announced_step(int index);

// tasks.c

void rl_forget_tasks(void);
/// Jobs that were sent begin, one after the other, before anything is decided. Returns false if there
/// are none.
bool rl_begin_next_job(void);
bool rl_has_next_job(void);
/// What a worker does that was assigned a JOB.
void rl_run_job(void);
/// Whether a task that sleeps is the next one to wake up.
bool rl_is_next_to_wake(const thread *t);
/// The thread is no longer run by this worker.
void rl_leave_thread(int index);
/// Where a task that is suspended will go on; 0: not known.
uintptr_t rl_place_of_suspension(const thread *t);
/// The task that is on an actor, or NO_THREAD.
int rl_task_on(uintptr_t actor);
/// What a task that no thread runs waits for.
rl_kind rl_suspension_of(const thread *t);
/// A thread outside of the scenario has resumed a task.
bool rl_was_resumed_from_outside(void);

// observe.c

void rl_make_observation(void);
void rl_end_observation(void);
/// From now on, or no longer, notes which objects are made.
void rl_note_objects(bool whether);
/// Those noted so far, until the next run. No more are noted.
size_t rl_noted_objects(const rl_object **noted);

// source_lines.c

/// Where code comes from.
typedef enum {
    SOURCE_UNKNOWN = 0,
    OF_STATEMENT,       // it stands in a source file
    ADDED_BY_COMPILER,  // it has no line, but its function has statements
    OF_COMPILER,        // its function has none: an accessor, a thunk
} rl_source;

rl_source rl_find_source(uintptr_t pc);
/// Whether a call has no line, although its function has statements.
bool rl_has_no_line(uintptr_t pc);

/// A modification in place may be two calls of accessors, one that begins it and one that ends it. The
/// statement stands between them.
typedef enum { NEITHER, BEGINS, ENDS } rl_access_end;

/// Which end of an access is a call of the function in which the code stands.
rl_access_end rl_access_end_at(uintptr_t pc);
/// Whether the function in which the code stands allocates an object and calls its initializer.
bool rl_is_allocating(uintptr_t pc);
/// Where the statement is to which such a call belongs that has no line itself.
uintptr_t rl_nearest_statement(uintptr_t pc, rl_access_end end);

// watcher.c

/// Returns when the exploration is over, or when its running thread will not hand over any more.
void rl_watch(void);

#endif
#endif
