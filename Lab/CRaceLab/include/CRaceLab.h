// The C half of RaceLab: the runtime entry points that the lab intercepts, and the engine that lets
// one thread run at a time. Lab/RaceLab explains what it is for.

#ifndef CRACELAB_H
#define CRACELAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "Kinds.h"
#include "Steps.h"

/// How a run ended.
typedef enum {
    RL_COMPLETE = 0,  // every thread finished
    RL_DEADLOCK,      // some threads did not finish, and none of them is enabled; or `judge_waits`
    RL_TOO_LONG,      // more steps than `max_steps`
    RL_MISFIT,        // the schedule asked for a thread that is not enabled
    RL_BLOCKED,       // a thread sleeps in a call that the lab does not control
    RL_SILENT,        // a thread keeps running without reaching a point
    RL_NOT_THE_SAME,  // replaying the schedule produced a different execution
    RL_TOO_MANY,      // more threads than RL_MAX_THREADS
    RL_CRASHES,       // the interleaving is known to crash, so it was not tried again
    RL_OUTSIDE,       // code outside the scenario takes part
} rl_status;

/// Two conflicting accesses to one address, at least one of them a modification, that
/// happens-before does not order.
typedef struct {
    uintptr_t address;
    uint8_t first_thread, first_kind;
    uint8_t second_thread, second_kind;
    bool overlap;     // both modify: the modifications can overlap in time
    bool is_known;    // atomic operations separate them, but with too weak memory orderings
    bool is_partial;  // they may begin at different addresses
    uint32_t first_step, second_step;
    uintptr_t first_pc, second_pc;
} rl_race;

/// Incorrect uses of a lock, a semaphore, a continuation or memory.
typedef enum {
    RL_RELEASED_FREE_LOCK = 0,  // a thread released a lock that no thread held
    RL_RELEASED_FOREIGN_LOCK,   // a thread released a lock that another thread held
    RL_USED_DESTROYED_LOCK,     // a thread used a mutex that had been destroyed
    RL_DESTROYED_HELD_LOCK,     // a thread destroyed a mutex that a thread held
    RL_WAITED_WITHOUT_LOCK,     // a thread waited for a condition without holding its lock
    RL_FREED_IN_USE,            // a semaphore was freed with a count below its initial count
    RL_RESUMED_TWICE,           // a continuation was resumed a second time
    RL_FREED_TWICE,             // memory was freed that had been freed already
} rl_misuse_kind;

typedef struct {
    uint8_t kind;
    int8_t thread;             // -1: none; something was freed with the scenario
    uintptr_t pc;              // 0: unknown
    int64_t count, made_with;  // of a semaphore
} rl_misuse;

/// Why a thread cannot continue, at the end of a run that did not complete.
typedef struct {
    bool finished;
    bool spinning;  // repeats the same reads until another thread writes
    bool busy;      // spins, and takes locks meanwhile or attempts to
    bool in_line;   // waits for work that was sent to the queue earlier
    bool begun;     // a task; before, `pc` is where it is created
    int8_t holder;  // the thread that holds the lock, or that is waited for; -1: none
    uint8_t kind;
    uintptr_t address, pc;
    uintptr_t holder_pc;  // where the holder took the lock
    const char *queue;    // the label of the dispatch queue that it waits for, or NULL
} rl_waiting;

#define RL_MAX_FRAMES 64

/// An instance of a class, created during a run.
typedef struct {
    uintptr_t address;
    size_t size;
    const void *type;
    uintptr_t pc;  // where it was created
    int maker;     // the thread that created it; -1: the set-up did
    size_t order;  // how many objects were created before it
} rl_object;

/// How the code under test ends this process, see `ends` in `rl_scenario`.
typedef struct {
    const char *call;      // the call that ends it, such as "exit"; NULL: it crashes …
    int status;            // … with this signal; or the status that the call passes
    bool overflow;         // the crash is a stack overflow
    uintptr_t pc;          // where; of a crash, the address of the instruction
    int thread;            // of the scenario; -1: …
    bool is_in_set_up;     // … the set-up, or else a check
    uint32_t frame_count;  // the call stack of a crash
    uintptr_t frames[RL_MAX_FRAMES];
} rl_end;

/// The exit status of a process that the code under test tried to end. No other part of the lab
/// uses it, and it is not 0, so a run of tests that ends early never counts as a success.
enum { RL_STATUS_OF_EARLY_END = 70 };

/// One run of the scenario, as passed to `finished`. Valid during that call only.
typedef struct {
    rl_status status;
    uint32_t thread_count;        // including the threads started during the run
    rl_thread_set tasks;          // those of the threads that are tasks
    rl_thread_set queue_threads;  // and those that do a queue's work
    uint32_t step_count;
    const rl_step *steps;
    uint32_t switches;         // context switches …
    uint32_t forced_switches;  // … away from an enabled thread (preemptions)
    uint32_t race_count;
    const rl_race *races;
    rl_waiting waiting[RL_MAX_THREADS];
    bool judge_waits;  // every thread finished, and then the code that judges the run waits …
    rl_waiting judge;  // … for this
    uint32_t accesses[RL_MAX_THREADS];  // each thread's points, fences, releases, writes
    uint32_t misfit_step;
    int misfit_thread;  // if there are too many threads: the one that starts another
    bool misfit_early;  // the thread was enabled, but not for an early attempt
    int blocked_thread;
    uint32_t frame_count;  // the call stack of the blocked thread
    uintptr_t frames[RL_MAX_FRAMES];
    size_t object_count;  // including objects of the set-up, if `stepped` is not NULL
    const rl_object *objects;
} rl_run;

/// An interleaving that crashes in its last step or after it.
typedef struct {
    const uint32_t *schedule;  // choices
    uint32_t length;
} rl_crash;

/// An exchange that compares has another memory ordering for the case that it fails.
enum { RL_OF_OPERATION, RL_OF_FAILURE, RL_OF_FENCE };

/// A memory ordering of the code under test.
typedef struct {
    uintptr_t pc;
    int kind;   // RL_OF_…
    int order;  // __ATOMIC_…
} rl_ordering;

#define RL_MAX_ORDERINGS 64

typedef struct rl_execution rl_execution;
typedef struct rl_plan rl_plan;
typedef struct rl_known_counts rl_known_counts;

/// What makes a difference in some programs only. A run shows it, and then the exploration starts
/// over.
typedef struct {
    bool priorities;  // tasks may have different ones, see task_ordering.c
    bool time;        // code reads the clock while tasks sleep, see delays.c
} rl_matters;

typedef struct {
    void *context;
    /// Sets up a fresh scenario for one run and returns the number of its threads.
    int (*set_up)(void *context);
    /// The body of one thread. It calls `rl_listen` right before it enters the code under test.
    void (*body)(void *context, int thread);
    /// Judges a run. Returns false to stop the exploration.
    bool (*finished)(void *context, const rl_run *run);
    /// Called after each step while no thread is running. May be NULL.
    void (*stepped)(void *context, uint32_t step);

    /// Called when the code under test is about to end this process. Reports it.
    void (*ends)(void *context, const rl_run *run, const rl_end *end);

    // The search, see Search.h. Without it there is one run.
    /// Called after each run, before `finished`. Returns false if the run has shown something that
    /// the earlier runs should have taken into account: explore again.
    bool (*learn)(void *context, const rl_execution *execution);
    /// Called after the first run if it `starts_again` before it is judged, instead of `finished`.
    /// May be NULL.
    void (*started_over)(void *context, const rl_run *run);
    /// Called after `finished`. Returns false if there is nothing else to run.
    bool (*choose)(void *context, rl_plan *plan);
    /// Called after `choose` if a bound ends the exploration, while the last run is still recorded.
    /// May be NULL.
    void (*reached_bound)(void *context);
    const rl_known_counts *counts;  // NULL: nothing is known

    /// Whether the compiler generated the code at an address, so that no source file contains it.
    /// Not called on Linux: the engine reads the line tables there.
    bool (*is_compilers_own)(uintptr_t pc);

    uint64_t seed;              // of the random numbers that the code under test draws
    uint64_t exploration;       // identifies it; several explorations may belong together
    unsigned liberties;         // RL_LIBERTY_…
    bool reduce;                // partial-order reduction: do not permute independent steps
    bool keeps_stores;          // atomic operations may read old values
    bool finds_weak_orderings;  // `starts_again` after a run in which an ordering allows that
    rl_matters matters;
    uint64_t max_runs;
    uint64_t max_executed;     // including redundant runs; 0: any number
    int64_t max_milliseconds;  // start no run after that; 0: no limit
    /// Called once a second between two runs. May be NULL.
    void (*progressed)(void *context, uint64_t runs, uint64_t redundant);
    uint32_t max_steps;        // of one run
    const uint32_t *schedule;  // choices; if not NULL: run only this schedule …
    uint32_t schedule_length;
    bool beyond;              // … or every interleaving that begins with it
    const rl_crash *crashes;  // known crashes
    size_t crash_count;
    rl_ordering instead;  // at its `pc`: used instead of that in the source; or `pc` is 0
    unsigned faults;      // RL_FAULT_…, or 0
} rl_scenario;

/// The bound that ended an exploration before it was complete.
typedef enum {
    RL_NO_BOUND = 0,
    RL_BOUND_RUNS,
    RL_BOUND_EXECUTED,
    RL_BOUND_TIME,
} rl_bound;

typedef struct {
    rl_status status;          // RL_COMPLETE, or the status that ended the exploration
    uint64_t runs;             // interleavings explored
    uint64_t redundant;        // started, then found equivalent to an earlier one
    rl_bound bound;            // the bound that was reached, if any
    const char *outside;       // if `status` is RL_OUTSIDE: what the outside code does …
    uintptr_t outside_pc;      // … and where that started
    const char *doubt;         // why it is inconclusive if nothing is found; or NULL …
    uintptr_t doubt_pc;        // … and where
    bool starts_again;         // `learn` returned false, or a run has shown more
    bool has_weak_orderings;   // atomic operations that are not sequentially consistent
    rl_matters matters;        // more than in the scenario, if a run has shown more
    bool has_random_numbers;   // the code under test has drawn some
    uintptr_t older_change;    // where the first run changes memory that is older than it; or 0 …
    bool is_change_of_set_up;  // … and whether the set-up does that
    uint32_t ordering_count;
    rl_ordering orderings[RL_MAX_ORDERINGS];  // that the code under test has used
} rl_summary;

/// Families of entry points, through which the lab observes a program.
typedef enum {
    RL_ACCESSES = 0,
    RL_LASTING_ACCESSES,
    RL_KEY_PATHS,
    RL_ATOMICS,
    RL_FENCES,
    RL_MUTEX,
    RL_LOCKS,
    RL_QUEUES,
    RL_SEMAPHORES,
    RL_THREADS,
    RL_WEAK_REFERENCES,
    RL_UNIQUENESS,
    RL_COUNTS,
    RL_TASKS,
    RL_ACTORS,
    RL_STREAMS,
    RL_FAMILY_COUNT,
} rl_family;

/// The lab does not observe this family with the installed toolchain. From now on, an exploration
/// in which the code under test calls one of its entry points ends as RL_OUTSIDE, with `name` as
/// the reason, which stays valid. NULL takes that back.
void rl_is_blind_to(rl_family family, const char *name);

/// A fault that the lab's own tests inject: the entry points of a family do nothing but what they
/// replace, or the program does not even call them.
typedef enum {
    RL_FAMILY_WORKS = 0,
    RL_FAMILY_DOES_NOTHING,
    RL_FAMILY_IS_BYPASSED
} rl_fault_of_family;
void rl_disable_family(rl_family family, rl_fault_of_family fault);

/// What the code under test does outside of the lab's view if it depends on reference counts and
/// the lab does not observe them.
#define RL_RETAINS_AND_RELEASES "retains and releases"

/// Whether the lab's own check has shown that it does not observe retains and releases with this
/// runtime.
void rl_distrust_counts(bool does);

/// Runs the scenario under one interleaving after another. Only one exploration runs at a time.
rl_summary rl_explore(const rl_scenario *scenario);

/// Between these two calls, which may be nested, no other thread begins an exploration. After the
/// first one in between, the calling thread stays on its processor until the outermost release.
void rl_hold_explorations(void);
void rl_release_explorations(void);

/// Between these calls, the accesses of the calling thread are steps. Calls nest.
void rl_listen(void);
void rl_deafen(void);

/// Between these calls, the lab ignores what the calling thread does. Calls nest.
void rl_ignore(void);
void rl_attend(void);

/// A step of kind RL_NOTE on `place`. Returns the step's number, or UINT32_MAX outside a run.
uint32_t rl_note(const void *place);
/// Whether a thread of this run has made such a step while it held a lock.
bool rl_noted_under_lock(void);

/// A step of kind RL_SEND: sends `item` to `queue`. The caller then appends the item to the queue.
/// Everything before this call happens-before the receipt of the item. Outside a run the call only
/// counts the item.
void rl_send(const void *queue, const void *item);

/// A step of kind RL_RECEIVE: waits until `queue` has an item. Returns false if none will arrive
/// because every other thread has finished. The caller then removes an item from the queue and
/// calls `rl_received` with it.
bool rl_await(const void *queue);
void rl_received(const void *item);

// MARK: - Tasks

/// NULL if the lab can explore Swift tasks; otherwise a sentence that says why not. `begin_task`
/// starts a task that yields once, `hop` starts one that hops to an actor, and `use_stream` sends
/// two values to a stream.
const char *rl_find_out_about_tasks(void (*begin_task)(void), void (*hop)(void),
                                    void (*use_stream)(void));

/// Called by the body of a thread of the scenario: the next task that it creates takes the thread's
/// place.
void rl_becomes_task(void);

/// The misuses in this run so far, including those found while the scenario is freed. Valid until
/// the next run.
const rl_misuse *rl_misuses(size_t *count);

/// True on a thread of a running scenario.
bool rl_on_lab_thread(void);

/// Reads the state of the scenario between two steps, on a thread of the lab. Returns false if
/// `read` would have to wait for a thread of the scenario, for example at a lock; `read` is then
/// abandoned and never returns.
bool rl_observe(void (*read)(void *context), void *context);
/// The addresses that the last observation accessed.
size_t rl_touched(const uintptr_t **addresses);

/// How many accesses to properties, captured variables and globals the calling thread has made
/// outside a run.
uint64_t rl_heard(void);

/// NULL if the lab can work in this build; otherwise a sentence that says why not.
const char *rl_unavailable(void);

// MARK: - In a child process

/// The phase that a child process is in.
typedef enum {
    RL_SETTING_UP = 0,
    RL_IN_THREAD,  // of the scenario
    RL_JUDGING,    // of a completed run
} rl_phase;

/// Memory that a child process shares with its parent. From it the parent learns what the child did
/// last, even if the child crashed.
typedef struct {
    int phase;
    int thread;          // the thread that runs, in phase RL_IN_THREAD
    uint64_t runs;       // completed before the current run
    uint64_t redundant;  // redundant runs, not included in `runs`
    uint32_t thread_count;
    rl_thread_set tasks, queue_threads;  // which threads are such
    int signal;                          // of the crash in the child, or 0
    bool overflow;                       // the crash is a stack overflow
    uintptr_t crash_pc;
    uint32_t frame_count;  // the call stack of the crash
    uintptr_t frames[RL_MAX_FRAMES];
    char lab_ended_it[256];  // why the lab itself ended the process, or ""
    uint32_t step_count;
    rl_step steps[];  // of the current run
} rl_recorder;

/// Work for a child process.
typedef struct {
    void *context;
    /// Called right before and right after the fork; `after` in both processes.
    void (*before)(void *context);
    void (*after)(void *context);
    /// Called in the child, on a thread of its own.
    void (*work)(void *context);
    /// Called once a second in the parent. May be NULL.
    void (*progressed)(void *context, uint64_t runs, uint64_t redundant);
    int results;           // for `work`: a file descriptor for the data that goes to the parent
    uint32_t max_steps;    // of a run
    int64_t milliseconds;  // the time limit, after which the child is killed
    uint64_t memory;       // how many bytes the child may allocate beyond the parent's memory
} rl_errand;

typedef struct {
    int status;              // as `waitpid` returns it
    bool time_is_up;         // the child exceeded its time limit, or wrote too much
    bool is_stuck;           // all its threads, the watcher included, slept for seconds
    int64_t milliseconds;    // from its start to its end
    char *results, *errors;  // what it wrote to `results` and to standard error
    size_t result_count, error_count;
    rl_recorder *recorder;
    size_t recorder_size;
} rl_child;

/// Runs an errand in a copy of this process and waits for the copy to exit. Explorations elsewhere
/// in this process wait as well. Returns false if the operating system refuses. In either case the
/// caller passes `answer` to `rl_forget_child`.
bool rl_run_in_child(rl_errand *errand, rl_child *answer);
void rl_forget_child(rl_child *answer);

/// The steps of the run that the child was in last.
static inline const rl_step *rl_recorded_steps(const rl_recorder *recorder) {
    return recorder->steps;
}

/// The source location of code. The strings stay valid.
typedef struct {
    const char *function;  // its mangled name
    uintptr_t function_start;
    const char *folder, *file;
    uint32_t line, column;  // 0: none
} rl_line;

/// Between these calls the calling thread works for the lab, for example looks up symbols. The time
/// that this takes does not count as silence of the code under test. Calls nest.
void rl_begin_own_work(void);
void rl_end_own_work(void);

/// From now on, sleeps take no time in this process, as they never do in a scenario. On Linux.
void rl_skip_sleeps(void);

/// For tests: blocks until the watcher of an exploration has looked `count` times.
void rl_wait_for_looks(int count);

/// Looks an address up in the program's line tables, on Linux. Returns false if no known function
/// contains it.
bool rl_find_line(uintptr_t address, rl_line *line);

/// For tests: whether a function with this demangled name takes a lock for its caller, on Linux.
/// `calls_parameter`: a parameter that is a function is called before this one returns.
bool rl_takes_lock_for_caller(const char *signature, bool calls_parameter);

/// If the instruction at an address is the trap of a check for arithmetic overflow, returns the
/// address of the jump that leads there; otherwise 0.
uintptr_t rl_overflow_before_trap(uintptr_t pc);

/// The symbol that a library exports for the function at a return address; NULL if it has none.
const char *rl_name_of_function(uintptr_t pc);

/// Whether a return address belongs to the program, and not to the toolchain's libraries.
bool rl_is_of_program(uintptr_t pc);

/// How often this process and its children have learned of further accesses whether they are steps.
/// Interleavings that were recorded before that may have other steps now.
uint32_t rl_steps_learned(void);

/// NULL if child processes are supported; otherwise a sentence that says why not.
const char *rl_no_children(void);

/// Behavior that is explored on request.
enum {
    RL_LIBERTY_TIME_OUTS = 1,   // a wait can time out while other threads are enabled
    RL_LIBERTY_ANY_WAITER = 2,  // a signal can wake any waiting thread
    RL_LIBERTY_SPURIOUS = 4,    // a condition can wake a thread spuriously
};

/// Faults that the lab's own tests inject to check that the tests notice them.
enum {
    RL_FAULT_NO_EDGE_FROM_UNLOCK = 1,
    RL_FAULT_LOCKS_ALWAYS_FREE = 2,
    RL_FAULT_SKIP_LAST_ALTERNATIVE = 4,
    RL_FAULT_NO_EARLY_ATTEMPTS = 8,
    RL_FAULT_EVERY_ATOMIC_ORDERS = 16,
    RL_FAULT_ONCE_ORDERS_TASKS = 32,            // initializing a global orders tasks
    RL_FAULT_EARLY_RESUME_ORDERS_NOTHING = 64,  // an early resume of a continuation orders nothing
    RL_FAULT_RUNTIME_LOCKS_ORDER_NOTHING = 128,
    RL_FAULT_LANES_ORDER_TASKS = 256,        // sharing a worker thread orders tasks
    RL_FAULT_POINT_AT_ALL_OF_RUNTIME = 512,  // not a fault: a point at every runtime event
    RL_FAULT_NO_COHERENCE = 1024,            // a load reads stores older than those that it knows
    RL_FAULT_NO_SC_ORDER = 2048,             // sequentially consistent operations have no order
    RL_FAULT_NO_OLD_VALUES = 4096,           // no old value is offered
};

/// From now on a stack overflow writes `message` to standard error and ends the process with
/// `status` instead of a signal. For child processes that run code which may overflow.
void rl_report_stack_overflow(int status, const char *message);

#include "Sampling.h"
#include "Search.h"

#endif
