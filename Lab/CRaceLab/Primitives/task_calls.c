// The entry points of Swift's concurrency runtime, and the events that it reports to
// ThreadSanitizer.
//
// Every job leaves the runtime through `dispatch_async_f`, or through `dispatch_after_f` for a task
// that sleeps. `rl_job_passes` and `rl_delayed_job_passes` intercept them there. The runtime itself
// reports what is ordered: it calls two functions through pointers, `_swift_tsan_acquire` and
// `_swift_tsan_release`, when a job is enqueued and when it begins, when an actor is locked and
// unlocked, when a task ends and is awaited, and when a continuation is resumed. The return address
// of the call identifies the event. The lab learns these addresses before the first exploration,
// from a task that yields once, a task that registers a cancellation handler and hops to an actor,
// and a stream. If their events are not as expected, the lab gives no verdict about tasks.

#include "Model/delays.h"
#include "Platform/memory.h"
#include "Primitives/actor.h"
#include "Primitives/clock.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/task.h"
#include "Scheduler/outside.h"
#include "State/blocks.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

// MARK: - Events of the runtime

typedef enum { ACQUIRES, RELEASES, SENDS, LOCKS } told_kind;

typedef struct {
    told_kind kind;
    const void *thing;
    uintptr_t pc;
    function work;
} told;

/// What the runtime reports while the lab learns the addresses.
static struct {
    told all[64];
    int count;
} heard;

static _Thread_local bool is_finding_out;

static struct {
    void (*begin_task)(void), (*hop)(void), (*use_stream)(void);
    const char *obstacle;
    uintptr_t stack;  // where the stack of its thread begins
    bool registers;   // its task has registered a handler, within the library as a stream does
} trial;

/// Whether this event reports the initialization of a global of the runtime, on its first use.
static bool is_token(const void *thing) { return rl_is_global((uintptr_t)thing); }

static void hear(told t) {
    if (t.kind != SENDS && is_token(t.thing)) return;
    if (heard.count < 64) heard.all[heard.count++] = t;
}

/// Return addresses in the runtime: where it enqueues a job, hands it to Dispatch, begins it and
/// leaves it, where a task ends, and where the lock of a stream is taken. The runtime of Swift 6.3
/// does not report that it leaves a job.
static uintptr_t enqueues, sends, begins, leaves, ends, locks_stream;

static void acquire(const void *thing) {
    const rl_place place = RL_CALLER;
    if (is_finding_out) return hear((told){ACQUIRES, thing, place.pc, NULL});
    if (place.pc == begins) return rl_job_begins(thing, place);
    if (!rl_active && !rl_begins_job()) return;
    if (is_token(thing) && !rl_has_fault(RL_FAULT_ONCE_ORDERS_TASKS)) return;
    rl_runtime_acquires(thing);
}

static void release(const void *thing) {
    const rl_place place = RL_CALLER;
    if (is_finding_out)
        trial.registers |= rl_is_of_tasks(rl_learn_registration(place, trial.stack));
    if (is_finding_out) return hear((told){RELEASES, thing, place.pc, NULL});
    // By then the task may run elsewhere, so this orders nothing.
    if (place.pc == leaves) return;
    if (!rl_is_of_lab()) return rl_foreign_thread_resumes(thing);
    if (!rl_controls_tasks()) return;
    if (is_token(thing) && !rl_has_fault(RL_FAULT_ONCE_ORDERS_TASKS)) return;
    if (place.pc == ends) return rl_task_ends(thing);
    if (place.pc == enqueues)
        rl_job_is_enqueued(thing, place);
    else if (place.pc != sends && rl_is_other_task(thing))
        return rl_resumes_task(thing, place);
    const bool only_orders = place.pc == enqueues || place.pc == sends;
    if (!only_orders) rl_may_register(thing, place);
    rl_runtime_releases(thing, only_orders);
}

// MARK: - Jobs that leave the runtime

static uint8_t kind_of(const void *job) { return ((const uint8_t *)job)[4 * sizeof(void *)]; }

/// A job for the main queue, where it queues up with other work.
typedef struct {
    void *job;
    function work;
} job_for_main;

static void run_on_main(void *context) {
    const job_for_main j = *(job_for_main *)context;
    rl_discard(context);
    rl_run_job_here(j.job, j.work);
}

bool rl_job_passes(dispatch_object queue, void *job, function work, rl_place place) {
    if (!rl_is_of_tasks((uintptr_t)work)) return false;
    if (is_finding_out) {
        hear((told){SENDS, job, place.pc, work});
        return true;
    }
    if (!rl_controls_tasks()) return false;
    if (rl_kind_of_queue(queue) != MAIN) {
        rl_send_job(job, work, place);
        return true;
    }
    job_for_main *j = rl_allocate(sizeof *j, "a job for the main thread");
    *j = (job_for_main){job, work};
    rl_place from = rl_place_of_await(place);
    if (!from.pc) from.pc = rl_last_arrival();
    const int task = rl_task_at(job);
    if (task != NO_THREAD) lab.run.threads[task].actor = rl_main_actor();
    rl_send_item(rl_make_item(queue, (call){run_on_main, j}, from), from);
    return true;
}

/// Where the time is part of its state, each round of a loop differs from the others.
enum { MOST_SLEEPS = 100 };

bool rl_delayed_job_passes(uint64_t when, void *job, function work) {
    if (!rl_is_of_tasks((uintptr_t)work) || !rl_controls_tasks()) return false;
    if (kind_of(job) != 0) return false;
    const void *code = ((void *const *)job)[7];
    thread *t = my_thread();
    if (t->has_read_clock && ++t->sleeps > MOST_SLEEPS) {
        rl_place place = rl_place_that_awaits(RL_CALLER);
        if (!place.pc) place.pc = t->pc;
        rl_meet_outside("sleeps again and again, and reads the clock meanwhile", place);
    }
    rl_send_job_later(job, work, rl_model_time(when), rl_is_of_tasks((uintptr_t)code));
    return true;
}

// MARK: - Clocks

int clock_gettime(clockid_t clock, struct timespec *time) {
    const rl_place place = RL_CALLER;
    const bool is_of_task = rl_is_of_tasks(place.pc) && rl_controls_tasks();
    if (is_of_task) rl_comes_to_clock(rl_place_that_awaits(place));
    const int result = REAL(clock_gettime)(clock, time);
    if (result == 0) rl_shows_still_time(clock, time, place.pc);
    if (!is_of_task) return result;
    // A sleep reads it, too, but not for the program.
    const uintptr_t reader = rl_place_of_await(place).pc;
    if (!reader || rl_is_compilers_own(reader)) return result;
    my_thread()->has_read_clock = true;
    rl_note_clock_read();
    return result;
}

// MARK: - Creating tasks

/// A list of options for the creation of a task.
typedef struct option {
    size_t flags;
    struct option *next;
    executor executor;  // for kind 0: the executor on which the task begins
} option;

static uintptr_t actor_of(const option *o) {
    for (; o; o = o->next)
        if ((o->flags & 0xFF) == 0) return rl_is_actor(o->executor) ? o->executor.identity : 0;
    return 0;
}

typedef struct {
    void *task, *context;
} created;

SWIFT_FUNCTION created swift_task_create(size_t flags, option *options, const void *type,
                                         void *entry, void *closure) {
    const rl_place place = RL_CALLER;
    if (!rl_is_by_program(RL_TASKS, place))
        return REAL(swift_task_create)(flags, options, type, entry, closure);
    const uintptr_t actor = actor_of(options);
    // The task could overtake one that is about to begin there, which the lab does not explore.
    const bool has_priority = flags & 0xFF;
    if (actor && has_priority && rl_current_executor().identity != actor)
        rl_meet_outside("starts a task with a priority on an actor where it is not itself", place);
    if (actor) rl_meets_actor(actor);
    const bool is_child = flags & 0x100;
    rl_creates_task(actor, is_child, rl_place_in_source(place));
    const created c = REAL(swift_task_create)(flags, options, type, entry, closure);
    rl_created_task();
    return c;
}

SWIFT_FUNCTION void swift_asyncLet_begin(void *let, option *options, const void *type, void *entry,
                                         void *closure, void *result) {
    const rl_place place = RL_CALLER;
    const bool is_by_program = rl_is_by_program(RL_TASKS, place);
    if (is_by_program) rl_creates_task(actor_of(options), true, rl_place_in_source(place));
    REAL(swift_asyncLet_begin)(let, options, type, entry, closure, result);
    if (is_by_program) rl_created_task();
}

SWIFT_FUNCTION void swift_task_immediate(void *task, uintptr_t identity, uintptr_t implementation);

typedef struct {
    void *task;
    executor executor;
} immediate;

static void run_now(void *context) {
    const immediate *i = context;
    REAL(swift_task_immediate)(i->task, i->executor.identity, i->executor.implementation);
}

SWIFT_FUNCTION void swift_task_immediate(void *task, uintptr_t identity, uintptr_t implementation) {
    const rl_place place = RL_CALLER;
    immediate i = {task, {identity, implementation}};
    if (!rl_is_by_program(RL_TASKS, place)) return run_now(&i);
    rl_meet_task(task);
    rl_run_job_here(&i, run_now);
}

// MARK: - The stack of a task

static thread *current_task(void) {
    if (!rl_on_lab_thread() || me->fate != STAYS || !my_thread()->is_task) return NULL;
    return my_thread();
}

SWIFT_FUNCTION void *swift_task_alloc(size_t size) {
    void *frame = REAL(swift_task_alloc)(size);
    thread *t = current_task();
    if (t) rl_add_frame(t, (uintptr_t)frame, size);
    return frame;
}

static void will_free(const void *frame) {
    thread *t = current_task();
    if (t) rl_remove_frames(t, (uintptr_t)frame);
}

/// A continuation that was resumed before it is awaited causes no event when it is awaited. But the
/// awaiting code frees the continuation's context afterwards.
SWIFT_FUNCTION void swift_task_dealloc(void *frame) {
    if (rl_controls_tasks()) rl_has_been_resumed();
    will_free(frame);
    REAL(swift_task_dealloc)(frame);
}

SWIFT_FUNCTION void swift_task_dealloc_through(void *frame) {
    will_free(frame);
    REAL(swift_task_dealloc_through)(frame);
}

// MARK: - Locks of the runtime

bool rl_is_lock_of_stream(rl_place place) { return place.pc == locks_stream; }

bool rl_finds_out_about_lock(void *mutex, rl_place place) {
    if (is_finding_out && rl_is_of_tasks(place.pc)) hear((told){LOCKS, mutex, place.pc, NULL});
    return is_finding_out;
}

// MARK: - Learning the addresses

/// Finds a reported event from `*at` on, and advances `*at` past it.
static const told *find_told(int *at, told_kind kind, const void *thing, uintptr_t pc) {
    while (*at < heard.count) {
        const told *t = &heard.all[(*at)++];
        if (t->kind == kind && (!thing || t->thing == thing) && (!pc || t->pc == pc)) return t;
    }
    return NULL;
}

static bool is_next(int *at, told_kind kind, const void *thing, uintptr_t *pc) {
    if (*at < 0 || *at >= heard.count) return false;
    const told *t = &heard.all[(*at)++];
    if (t->kind != kind || t->thing != thing || (*pc && *pc != t->pc)) return false;
    *pc = t->pc;
    return true;
}

static void run_told(const told *sent) {
    const told t = *sent;
    t.work((void *)t.thing);
}

/// Finds the events of a task that was enqueued and sent. Returns NULL if they are not as expected.
static const told *find_sent_task(int *at, const void *task) {
    uintptr_t any = 0;
    const told *sent = find_told(at, SENDS, task, 0);
    if (!sent || kind_of(sent->thing) != 0) return NULL;
    int before = (int)(sent - heard.all) - 2;
    const bool is_good = is_next(&before, RELEASES, sent->thing, &enqueues) &&
                         is_next(&before, RELEASES, sent->thing, &sends) &&
                         is_next(&before, SENDS, sent->thing, &any) && enqueues != sends;
    return is_good ? sent : NULL;
}

/// A task that yields once. Expected: it is enqueued and sent, begins, sends a job that resumes it,
/// is enqueued and sent again, begins again, and ends.
static const char *hear_task(void (*begin_task)(void)) {
    int at = 0;
    uintptr_t resumes = 0;
    heard.count = 0;
    begin_task();
    const told *sent = find_sent_task(&at, NULL);
    if (!sent) return "a task is started in another way";
    const void *task = sent->thing;
    run_told(sent);
    if (!is_next(&at, ACQUIRES, task, &begins)) return "a task begins in another way";
    const told *yield = find_told(&at, SENDS, NULL, 0);
    if (!yield || kind_of(yield->thing) != 195) return "a task yields in another way";
    at = heard.count;
    run_told(yield);
    if (!is_next(&at, ACQUIRES, yield->thing, &begins) || !is_next(&at, RELEASES, task, &resumes))
        return "a continuation is resumed in another way";
    sent = find_sent_task(&at, task);
    if (!sent) return "a task that is resumed is sent in another way";
    const int left = at;
    if (!is_next(&at, RELEASES, yield->thing, &leaves)) at = left;
    run_told(sent);
    if (!is_next(&at, ACQUIRES, task, &begins) || !is_next(&at, RELEASES, task, &ends))
        return "a task ends in another way";
    return NULL;
}

/// A task that registers a handler and hops to an actor. Expected: it locks and unlocks the actor.
static const char *hear_hop(void (*hop)(void)) {
    heard.count = 0;
    hop();
    int at = 0;
    const told *sent = find_sent_task(&at, NULL);
    if (!sent) return "a task is started in another way";
    const void *task = sent->thing, *actor = NULL;
    run_told(sent);
    for (int i = at; i < heard.count; i++) {
        const told *t = &heard.all[i];
        if (t->kind == ACQUIRES && t->thing != task && !is_token(t->thing)) actor = t->thing;
        if (actor && t->kind == RELEASES && t->thing == actor)
            return trial.registers ? NULL : "a cancellation handler is registered in another way";
    }
    return "an actor does not say when it is entered and left";
}

static const char *hear_stream(void (*use_stream)(void)) {
    int at = 0;
    heard.count = 0;
    use_stream();
    const told *lock = find_told(&at, LOCKS, NULL, 0);
    if (!lock) return "a stream takes no lock";
    locks_stream = lock->pc;
    return find_told(&at, LOCKS, lock->thing, locks_stream) ? NULL : "a stream takes several locks";
}

static bool are_there(const char *const *symbols) {
    for (; *symbols; symbols++)
        if (!dlsym(RTLD_NEXT, *symbols)) return false;
    return true;
}

static void *find_out(void *unused) {
    (void)unused;
    static const char *const needed[] = {"swift_task_switch",
                                         "swift_task_create",
                                         "swift_asyncLet_begin",
                                         "swift_task_immediate",
                                         "swift_continuation_init",
                                         "swift_continuation_resume",
                                         "swift_continuation_throwingResume",
                                         "swift_continuation_throwingResumeWithError",
                                         "swift_continuation_await",
                                         "swift_task_dealloc",
                                         "swift_task_exitThreadLocalContext",
                                         "swift_task_getMainExecutor",
                                         "swift_task_getCurrentExecutor",
                                         "swift_job_run",
                                         "swift_job_run_on_task_executor",
                                         "swift_job_run_on_serial_and_task_executor",
                                         NULL};
    if (!are_there(needed) || !are_there(rl_symbols_of_cancellation))
        return trial.obstacle = "a function of the runtime is missing", NULL;
    void (**acquires)(const void *) = dlsym(RTLD_DEFAULT, "_swift_tsan_acquire");
    void (**releases)(const void *) = dlsym(RTLD_DEFAULT, "_swift_tsan_release");
    if (!acquires || !releases) return trial.obstacle = "the runtime tells nothing", NULL;
    trial.stack = (uintptr_t)__builtin_frame_address(0);
    rl_runtime = rl_library_with((uintptr_t)dlsym(RTLD_NEXT, "swift_task_switch"));
    is_finding_out = true;
    *acquires = acquire;
    *releases = release;
    trial.obstacle = hear_task(trial.begin_task);
    if (!trial.obstacle) trial.obstacle = hear_hop(trial.hop);
    if (!trial.obstacle) trial.obstacle = hear_stream(trial.use_stream);
    is_finding_out = false;
    rl_may_control_tasks = !trial.obstacle;
    if (trial.obstacle) *acquires = *releases = NULL;
    return NULL;
}

const char *rl_find_out_about_tasks(void (*begin_task)(void), void (*hop)(void),
                                    void (*use_stream)(void)) {
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    static bool is_known;
    pthread_mutex_lock(&once);
    if (!is_known) {
        is_known = true;
        trial.begin_task = begin_task, trial.hop = hop, trial.use_stream = use_stream;
        pthread_t thread;
        if (pthread_create(&thread, NULL, find_out, NULL) == 0)
            pthread_join(thread, NULL);
        else
            trial.obstacle = "there is no thread to try it on";
    }
    pthread_mutex_unlock(&once);
    return trial.obstacle;
}

#elif !defined(RL_WITHOUT_HOOKS)

const char *rl_find_out_about_tasks(void (*begin_task)(void), void (*hop)(void),
                                    void (*use_stream)(void)) {
    (void)begin_task, (void)hop, (void)use_stream;
    return "the functions of the concurrency runtime can be replaced on Linux only";
}

#endif
