// The C half of RaceLab: the runtime entry points on which it listens, and the
// engine that lets one thread run at a time. See Sources/RaceLab for what it is for.

#ifndef CRACELAB_H
#define CRACELAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RL_MAX_THREADS 32

/// A set of threads: a bit for each.
typedef uint32_t rl_thread_set;

/// What a thread is about to do when it comes to a point at which another one may go first.
typedef enum {
    RL_READ = 0,      // reads a property, a captured variable or a global
    RL_MODIFY,        // modifies one
    RL_LOCK,          // takes a lock; cannot go on while a thread holds it
    RL_TRY_LOCK,      // takes a lock if it is free
    RL_ATOMIC_READ,   // reads an atomic
    RL_ATOMIC_WRITE,  // writes an atomic, or reads and writes it in one
    RL_EXCHANGE,      // writes an atomic if it holds what is expected
    RL_NOTE,          // writes down something that the scenario wants to remember
    RL_SHARED_LOCK,   // takes a lock as one of several readers
    RL_TRY_SHARED_LOCK,
    RL_WAIT,          // releases a lock and falls asleep until a condition is signalled
    RL_WAKE,          // signals a condition: wakes a sleeping thread, if there is one
    RL_ACQUIRE,       // takes one from the count of a semaphore; cannot go on while that is 0
    RL_TRY_ACQUIRE,   // takes one if there is one
    RL_SIGNAL,        // adds one to the count of a semaphore
    RL_START,         // starts a thread
    RL_JOIN,          // waits for the end of a thread
    RL_SEND,          // sends work to a queue
    RL_RECEIVE,       // a queue's worker begins with the next piece of work
    RL_ENTER,         // enters a group: there is one more piece of work to finish
    RL_LEAVE,         // leaves a group: there is one less
    RL_AWAIT,         // waits until a group, or a piece of work, has finished
    RL_TRY_AWAIT,     // checks whether it has finished
    RL_NOTIFY,        // registers work that is sent to a queue when a group has finished
    RL_ARRIVE,        // a task arrives at an actor
    RL_RESUME,        // resumes a task
    RL_FINISH,        // a task comes to its end
    RL_CANCEL,        // cancels a task
    RL_ASK,           // asks whether a task has been cancelled
    RL_YIELD,         // a task that has let others go first stands in line again
    RL_ELAPSE,        // the time for which a task sleeps is over
    RL_SUSPENDED,     // no step: a task waits to be resumed …
    RL_NEXT,          // … with the next element of a stream
} rl_kind;

/// How a run ended.
typedef enum {
    RL_COMPLETE = 0,   // every thread came to its end
    RL_DEADLOCK,       // some did not, and none of them can go on
    RL_TOO_LONG,       // more steps than allowed
    RL_MISFIT,         // the schedule asked for a thread that cannot go on
    RL_BLOCKED,        // a thread sleeps in something that the lab does not control
    RL_SILENT,         // a thread runs on and on without coming to a point
    RL_NOT_THE_SAME,   // the same schedule led elsewhere than before
    RL_TOO_MANY,       // more threads were started than the lab has room for
    RL_CRASHES,        // it is known to crash here, so it was not tried again
    RL_OUTSIDE,        // something goes on outside of the scenario
} rl_status;

typedef struct {
    uint8_t thread;
    uint8_t kind;
    bool failed;            // an attempt that did not succeed, or whose time was up
    uint32_t locks_held;    // by this thread, after the step
    rl_thread_set enabled;  // the threads that could have gone
    rl_thread_set sleeping; // the threads whose going here would be redundant
    rl_thread_set could_be_early; // the threads whose attempt could come early, see RL_EARLY
    bool early;             // it did …
    uint8_t unprompted;     // it goes on without what it waits for: RL_TIME_OUT, RL_SPURIOUS or 0
    rl_thread_set could_time_out, could_be_spurious;  // the threads that could have done so
    int8_t before;          // … before this thread releases the lock
    int8_t resumes;         // of a step that resumes a task: that task; -1
    int8_t holder;          // of an arrival at an actor: the task that is there; -1
    uint8_t element;        // of a step that asks a stream for one: RL_RECEIVES, RL_WAITS; or 0
    uint32_t preemptions;   // before this step
    uintptr_t address;
    uintptr_t pc;
} rl_step;

/// Part of a choice: the attempt of this thread to take a lock comes before the release that ends
/// the last step of another thread, and fails. Or this thread comes to a queue later than work that
/// another one has sent there, and waits for it.
#define RL_EARLY 0x80

/// Part of a choice: the thread goes on without what it waits for, because its time is up, or because
/// a condition wakes it without a signal.
#define RL_TIME_OUT 0x40
#define RL_SPURIOUS 0xC0

/// What a task does that asks a stream for its next element: it receives it, or the end of the stream; or waits.
enum { RL_RECEIVES = 1, RL_WAITS };

/// The choice that led to a step.
static inline uint8_t rl_choice(const rl_step *step) {
    return (uint8_t)(step->thread | (step->early ? RL_EARLY : 0) | step->unprompted);
}

static inline int rl_chosen_thread(uint8_t choice) { return choice & ~RL_SPURIOUS; }

/// Two accesses to one place, at least one of them a modification, with nothing to order them.
typedef struct {
    uintptr_t address;
    uint8_t first_thread, first_kind;
    uint8_t second_thread, second_kind;
    bool overlap;           // both modify: each can be in the middle of it
    bool is_known;          // atomic operations lie between them, but none whose ordering counts
    uint32_t first_step, second_step;
    uintptr_t first_pc, second_pc;
} rl_race;

/// A way to use a lock, a semaphore or a continuation that its documentation forbids.
typedef enum {
    RL_RELEASED_FREE_LOCK = 0,  // a lock was released that no thread held
    RL_RELEASED_FOREIGN_LOCK,   // a lock was released that another thread held
    RL_WAITED_WITHOUT_LOCK,     // a condition was waited for without its lock
    RL_FREED_IN_USE,            // a semaphore was freed with less than it was made with
    RL_RESUMED_TWICE,           // a continuation was resumed that had been resumed already
} rl_misuse_kind;

typedef struct {
    uint8_t kind;
    int8_t thread;              // -1: none; something was freed with the scenario
    uintptr_t pc;               // 0: unknown
    int64_t count, made_with;   // of a semaphore
} rl_misuse;

/// What keeps a thread from going on, at the end of a run that did not complete.
typedef struct {
    bool finished;
    bool spinning;          // repeats the same reads until another thread writes
    bool busy;              // and takes locks meanwhile, or attempts to
    bool in_line;           // lets work go first that was sent to a queue before
    int8_t holder;          // of the lock for which it waits, or the thread; -1: none
    uint8_t kind;
    uintptr_t address, pc;
    uintptr_t holder_pc;    // where the holder took the lock
} rl_waiting;

#define RL_MAX_FRAMES 64

/// An instance of a class that was made during a run.
typedef struct {
    uintptr_t address;
    size_t size;
    const void *type;
    uintptr_t pc;           // where it was made
    int maker;              // the thread that made it; -1: it was made in the set-up
    size_t order;           // how many were made before it
} rl_object;

/// One run of the scenario, as it is shown to `finished`. Valid during that call only.
typedef struct {
    rl_status status;
    uint32_t thread_count;              // those that were started during the run included
    rl_thread_set tasks;                // of these, the tasks
    uint32_t step_count;
    const rl_step *steps;
    uint32_t switches;                  // context switches …
    uint32_t forced_switches;           // … away from a thread that could have gone on
    uint32_t race_count;
    const rl_race *races;
    rl_waiting waiting[RL_MAX_THREADS];
    uint32_t accesses[RL_MAX_THREADS];  // points to which each thread has come, fences and releases
    uint32_t misfit_step;
    int misfit_thread;
    bool misfit_early;                  // it could go, but not with an attempt that comes early
    int blocked_thread;
    uint32_t frame_count;               // where the blocked thread is
    uintptr_t frames[RL_MAX_FRAMES];
    size_t object_count;                // those of the set-up included, if `stepped` is not NULL
    const rl_object *objects;
} rl_run;

/// An interleaving that crashes in its last step, or after it.
typedef struct {
    const uint8_t *schedule;    // choices
    uint32_t length;
} rl_crash;

typedef struct {
    void *context;
    /// Makes everything afresh for one run and says how many threads it has.
    int (*set_up)(void *context);
    /// The body of one thread. It calls `rl_listen` right before the code under test.
    void (*body)(void *context, int thread);
    /// Judges a run. Returns false to stop the exploration.
    bool (*finished)(void *context, const rl_run *run);
    /// Called after each step if not NULL, while no thread is running.
    void (*stepped)(void *context, uint32_t step);

    /// Whether the code at an address stands in no source file. Not called on Linux, where the line
    /// tables are read instead.
    bool (*is_compilers_own)(uintptr_t pc);

    unsigned liberties;         // RL_LIBERTY_…
    bool reduce;                // do not permute steps that do not touch one another
    bool continues;             // an exploration that has learned something
    int max_preemptions;        // -1: any number
    uint64_t max_runs;
    uint64_t max_executed;      // those that repeat another one included; 0: any number
    int64_t max_milliseconds;   // no run is begun later; 0: without a limit
    /// Called once a second between two runs, if not NULL.
    void (*progressed)(void *context, uint64_t runs, uint64_t redundant);
    uint32_t max_steps;         // of one run
    const uint8_t *schedule;    // choices; if not NULL: run this one only …
    uint32_t schedule_length;
    bool beyond;                // … or every interleaving that begins like this
    const rl_crash *crashes;    // that are known
    size_t crash_count;
    unsigned faults;            // RL_FAULT_…, or 0
} rl_scenario;

/// What ends an exploration although there is more to explore.
typedef enum {
    RL_NO_BOUND = 0,
    RL_BOUND_RUNS,
    RL_BOUND_EXECUTED,
    RL_BOUND_TIME,
} rl_bound;

typedef struct {
    rl_status status;           // RL_COMPLETE, or what ended the exploration
    uint64_t runs;              // interleavings explored
    uint64_t redundant;         // begun and found to be equivalent to one explored before
    rl_bound bound;             // that was reached, if one was
    const char *outside;        // if `status` is RL_OUTSIDE: what goes on there …
    uintptr_t outside_pc;       // … and where it was begun
    bool preemption_bound_reached;
    bool starts_again;          // something was learned on which the reduction depends: go on with
                                // another exploration that `continues` this one
    bool has_weak_orderings;    // atomic operations that are not sequentially consistent
} rl_summary;

/// Runs the scenario under one interleaving after the other. One exploration at a time.
rl_summary rl_explore(const rl_scenario *scenario);

/// While `finished` is called: writes the choices of the interleaving with the fewest switches, forced
/// ones first, that differs from this run only in the order of independent steps. There has to be room
/// for as many as the run has steps. Returns false if that is not known.
bool rl_fewest_switches(uint8_t *choices, uint32_t *forced_switches);

/// From here to `rl_deafen` this thread's accesses are steps. Calls do nest.
void rl_listen(void);
void rl_deafen(void);

/// Leaves out what this thread does until `rl_attend`. Calls do nest.
void rl_ignore(void);
void rl_attend(void);

/// A step of kind RL_NOTE on `place`. Returns its number, or UINT32_MAX outside of a run.
uint32_t rl_note(const void *place);

/// A step of kind RL_SEND: `item` is sent to `queue`. To be followed by putting it there. What
/// happened before happens before the item is received. Outside of a run it only counts.
void rl_send(const void *queue, const void *item);

/// A step of kind RL_RECEIVE: waits until there is an item in `queue`. Returns false if there
/// will be none, because every other thread has come to an end. To be followed by `rl_received`
/// with the item that the caller takes from the queue.
bool rl_await(const void *queue);
void rl_received(const void *item);

// MARK: - Tasks

/// NULL if tasks of Swift concurrency can be explored; otherwise a sentence that says why not.
/// `begin_task` starts a task that yields once, `hop` one that goes to an actor; `use_stream` sends two
/// values to a stream.
const char *rl_find_out_about_tasks(void (*begin_task)(void), void (*hop)(void),
                                    void (*use_stream)(void));

/// Called by the body of a thread of the scenario: the task that it creates next takes its place.
void rl_becomes_task(void);

/// What was misused in this run so far, freeing what the scenario has set up included. Valid until
/// the next run.
const rl_misuse *rl_misuses(size_t *count);

/// True on a thread of a running scenario.
bool rl_on_lab_thread(void);

/// Reads the state of the scenario between two steps, on a thread of the lab. Returns false if it
/// came to a lock that a thread of the scenario holds; then `read` has not returned, and never will.
bool rl_observe(void (*read)(void *context), void *context);
/// The addresses that the last observation has accessed.
size_t rl_touched(const uintptr_t **addresses);

/// How many accesses to properties, captured variables and globals have arrived here so far,
/// on this thread, outside of a run.
uint64_t rl_heard(void);

/// NULL if the lab can work in this build; otherwise a sentence that says why not.
const char *rl_unavailable(void);

// MARK: - In a child process

/// What a child process is doing.
typedef enum {
    RL_SETTING_UP = 0,
    RL_IN_THREAD,           // of the scenario
    RL_JUDGING,             // a run that is over
} rl_phase;

/// Memory that a child process shares with its parent, who can so tell what the child did last,
/// whatever became of it.
typedef struct {
    int phase;
    int thread;             // whose turn it is, in phase RL_IN_THREAD
    uint64_t runs;          // before this one
    uint64_t redundant;     // of those begun, in addition
    uint32_t thread_count;
    int signal;             // that the child got for a crash, or 0
    bool overflow;          // of the stack
    uintptr_t crash_pc;
    uint32_t frame_count;   // where it crashed
    uintptr_t frames[RL_MAX_FRAMES];
    uint32_t step_count;
    rl_step steps[];        // of the present run
} rl_recorder;

/// Something to be done in a child process.
typedef struct {
    void *context;
    /// Called right before and after the process is copied, the latter in both processes.
    void (*before)(void *context);
    void (*after)(void *context);
    /// Called in the child, on a thread of its own.
    void (*work)(void *context);
    /// Called once a second in the parent, if not NULL.
    void (*progressed)(void *context, uint64_t runs, uint64_t redundant);
    int results;            // for `work`: where to write what is for the parent
    uint32_t max_steps;     // of a run
    int64_t milliseconds;   // after which the child is ended
    uint64_t memory;        // so many bytes more than the parent has
} rl_errand;

#define RL_CHILD_DONE 0
#define RL_CHILD_FAILED 113

typedef struct {
    int status;             // as `waitpid` says it
    bool time_is_up;        // the child did not come to an end in time
    bool is_stuck;          // for seconds all its threads slept, the one that watches included
    int64_t milliseconds;   // from its beginning to its end
    char *results, *errors; // what it wrote, the latter to standard error
    size_t result_count, error_count;
    rl_recorder *recorder;
    size_t recorder_size;
} rl_child;

/// Does something in a copy of this process, and waits for its end; explorations elsewhere in
/// this process wait, too. Returns false if the operating system does not allow it. The answer
/// has to be forgotten, in either case.
bool rl_run_in_child(rl_errand *errand, rl_child *answer);
void rl_forget_child(rl_child *answer);

/// The steps of the run in which the child was last.
static inline const rl_step *rl_recorded_steps(const rl_recorder *recorder) {
    return recorder->steps;
}

/// Where code stands in the source. The texts stay where they are.
typedef struct {
    const char *function;       // its mangled name
    uintptr_t function_start;
    const char *folder, *file;
    uint32_t line, column;      // 0: none
} rl_line;

/// Between these two the calling thread works for the lab, such as to look up symbols: however long
/// that takes, the code under test is not to blame. Calls do nest.
void rl_begin_own_work(void);
void rl_end_own_work(void);

/// For tests: blocks until the thread that watches over an exploration has looked so often.
void rl_wait_for_looks(int count);

/// Looks an address up in the program's line tables, on Linux. Returns false if no function is known
/// that has the code.
bool rl_find_line(uintptr_t address, rl_line *line);

/// Whether a return address belongs to the program, and not to the toolchain's libraries.
bool rl_is_of_program(uintptr_t pc);

/// NULL if there can be such children; otherwise a sentence that says why not.
const char *rl_no_children(void);

/// What is explored on request.
enum {
    RL_LIBERTY_TIME_OUTS = 1,   // a time-out can fire although other threads could go on
    RL_LIBERTY_ANY_WAITER = 2,  // a signal can wake any thread that waits for it
    RL_LIBERTY_SPURIOUS = 4,    // a condition can wake a thread without a signal
};

/// Faults that the lab's own tests plant, to see whether they would be noticed.
enum {
    RL_FAULT_NO_EDGE_FROM_UNLOCK = 1,
    RL_FAULT_LOCKS_ALWAYS_FREE = 2,
    RL_FAULT_SKIP_LAST_ALTERNATIVE = 4,
    RL_FAULT_NO_EARLY_ATTEMPTS = 8,
    RL_FAULT_EVERY_ATOMIC_ORDERS = 16,
    RL_FAULT_ONCE_ORDERS_TASKS = 32,        // initializing a global orders tasks
    RL_FAULT_EARLY_RESUME_ORDERS_NOTHING = 64,  // nor does a continuation that is resumed first
    RL_FAULT_RUNTIME_LOCKS_ORDER_NOTHING = 128,
    RL_FAULT_LANES_ORDER_TASKS = 256,       // so does the thread on which they happen to run
    RL_FAULT_POINT_AT_ALL_OF_RUNTIME = 512, // no fault: a point wherever the runtime tells anything
};

/// From now on a stack overflow ends this process with `status`, after writing `message` to
/// standard error, instead of with a signal. For child processes that are about to try.
void rl_report_stack_overflow(int status, const char *message);

#ifdef __cplusplus
}
#endif

#endif
