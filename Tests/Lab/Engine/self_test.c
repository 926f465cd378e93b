// Tests the engine alone, without Swift: the interleavings that it explores, its hand-overs, the
// detection of spinning, and happens-before. The expected numbers follow from counting.
//
// Also tests the engine on processors for which no Swift toolchain is installed: see .ci/engine.

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

// MARK: - Entry points that the compiler would call

void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *pc);
uint32_t __tsan_atomic32_load(const volatile uint32_t *a, int order);
void __tsan_atomic32_store(volatile uint32_t *a, uint32_t value, int order);
uint32_t __tsan_atomic32_fetch_add(volatile uint32_t *a, uint32_t value, int order);

enum { RELAXED = 0, ACQUIRE = 2, RELEASE = 3, SEQUENTIAL = 5 };

static int places[RL_MAX_THREADS];
static volatile uint32_t *flag;   // on the heap: outside code could change a global
static pthread_mutex_t first_lock, second_lock;
static pthread_cond_t condition;
static bool is_ready;

static void read_place(int place) { swift_beginAccess(&places[place], NULL, 0, NULL); }
static void modify_place(int place) { swift_beginAccess(&places[place], NULL, 1, NULL); }

// MARK: - Exploring

typedef struct {
    int threads;
    void (*body)(int thread);
    // The results:
    int deadlocks, others, runs_with_race;
    uint64_t hash;              // of all schedules, in order
} test;

static int set_up(void *context) {
    pthread_mutex_init(&first_lock, NULL);
    pthread_mutex_init(&second_lock, NULL);
    pthread_cond_init(&condition, NULL);
    free((void *)flag);
    flag = calloc(1, sizeof *flag);
    is_ready = false;
    return ((test *)context)->threads;
}

static void body(void *context, int thread) {
    rl_listen();
    ((test *)context)->body(thread);
    rl_deafen();
}

static bool finished(void *context, const rl_run *run) {
    test *t = context;
    if (run->status == RL_DEADLOCK) t->deadlocks++;
    else if (run->status != RL_COMPLETE) t->others++;
    if (run->race_count > 0) t->runs_with_race++;
    for (uint32_t k = 0; k < run->step_count; k++)
        t->hash = t->hash * 1099511628211u + rl_choice(&run->steps[k]) + 1;
    t->hash = t->hash * 1099511628211u;
    return true;
}

/// In place of a number of preemptions.
enum { ANY = -1, FIRST_RUN = -2 };

static rl_summary explore(test *t, int preemptions) {
    rl_scenario scenario = {
        .context = t, .set_up = set_up, .body = body, .finished = finished, .max_runs = 100000,
        .max_steps = 2000,
    };
    const test before = *t;
    rl_summary summary;
    do {
        *t = before;
        if (preemptions != FIRST_RUN) drive(&scenario, preemptions);
        summary = rl_explore(&scenario);
    } while (summary.starts_again);
    return summary;
}

static int checks, failures;

static void expect(const char *name, const char *what, uint64_t found, uint64_t expected) {
    if (found == expected) return;
    failures++;
    printf("%s: %s: %llu instead of %llu\n", name, what, (unsigned long long)found,
           (unsigned long long)expected);
}

/// Explores twice, because both explorations must be the same, and compares the results with known
/// numbers.
static void check(const char *name, int threads, void (*body)(int), int preemptions, uint64_t runs,
                  uint64_t deadlocks, uint64_t races) {
    test t = {.threads = threads, .body = body}, again = t;
    rl_summary summary = explore(&t, preemptions);
    explore(&again, preemptions);
    expect(name, "status", summary.status, RL_COMPLETE);
    expect(name, "runs that end otherwise", (uint64_t)t.others, 0);
    expect(name, "interleavings", summary.runs, runs);
    expect(name, "deadlocks", (uint64_t)t.deadlocks, deadlocks);
    expect(name, "runs with a data race", (uint64_t)t.runs_with_race, races);
    expect(name, "schedules of the second exploration", again.hash, t.hash);
    checks++;
}

// MARK: - The scenarios

static void notes_one(int thread) { (void)thread, rl_note(places); }
static void notes_two(int thread) { (void)thread, rl_note(places), rl_note(places); }
static void notes_elsewhere(int thread) { rl_note(&places[thread]), rl_note(&places[thread]); }
static void reads_twice(int thread) { (void)thread, read_place(0), read_place(0); }
static void modifies(int thread) { (void)thread, modify_place(0); }

static void locks_and_modifies(int thread) {
    (void)thread;
    pthread_mutex_lock(&first_lock);
    modify_place(0);
    pthread_mutex_unlock(&first_lock);
}

static void takes(pthread_mutex_t *one, pthread_mutex_t *other) {
    pthread_mutex_lock(one);
    pthread_mutex_lock(other);
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(one);
}

static void locks_in_one_order(int thread) { (void)thread, takes(&first_lock, &second_lock); }

static void locks_in_two_orders(int thread) {
    thread == 0 ? takes(&first_lock, &second_lock) : takes(&second_lock, &first_lock);
}

static void waits_for_flag(int load, int store, int thread) {
    if (thread == 0) {
        modify_place(0);
        __tsan_atomic32_store(flag, 1, store);
    } else {
        while (__tsan_atomic32_load(flag, load) == 0) {
        }
        read_place(0);
    }
}

static void passes_message(int thread) { waits_for_flag(ACQUIRE, RELEASE, thread); }
static void passes_message_relaxed(int thread) { waits_for_flag(RELAXED, RELAXED, thread); }

static void waits_in_vain(int thread) {
    if (thread == 0) rl_note(places);
    else
        while (__tsan_atomic32_load(flag, ACQUIRE) == 0) {
        }
}

static volatile double rounds = 3;

/// Reads the flag three times. In optimized code only a register distinguishes the iterations: one
/// for floating-point numbers, which in a `jmp_buf` of arm64 follows the others.
static void looks_three_times(int thread) {
    if (thread == 0) __tsan_atomic32_store(flag, 1, RELEASE);
    else
        for (double round = 0; round < rounds; round += 1) __tsan_atomic32_load(flag, ACQUIRE);
}

static volatile int many_rounds[] = {3, 5, 7, 11};

/// The same, with several numbers, which the loop keeps in general-purpose registers.
static void looks_three_times_and_counts(int thread) {
    if (thread == 0) return __tsan_atomic32_store(flag, 1, RELEASE);
    int a = many_rounds[0], b = many_rounds[1], c = many_rounds[2], d = many_rounds[3];
    for (int round = 0; round < a; round++) {
        __tsan_atomic32_load(flag, ACQUIRE);
        b += c;
        c ^= d;
        d *= 3;
    }
    many_rounds[1] = many_rounds[1] + 0 * (b + c + d);
}

static void waits_for_condition(int thread) {
    pthread_mutex_lock(&first_lock);
    if (thread == 0) {
        is_ready = true;
        pthread_cond_signal(&condition);
    } else {
        while (!is_ready) pthread_cond_wait(&condition, &first_lock);
    }
    pthread_mutex_unlock(&first_lock);
}

static void misses_signal(int thread) {
    pthread_mutex_lock(&first_lock);
    if (thread == 0) pthread_cond_signal(&condition);
    else pthread_cond_wait(&condition, &first_lock);
    pthread_mutex_unlock(&first_lock);
}

static void *started(void *argument) {
    (void)argument;
    modify_place(0);
    return NULL;
}

static void starts_and_joins(int thread) {
    (void)thread;
    pthread_t other;
    pthread_create(&other, NULL, started, NULL);
    pthread_join(other, NULL);
    modify_place(0);
}

static void starts_and_goes_on(int thread) {
    (void)thread;
    pthread_t other;
    pthread_create(&other, NULL, started, NULL);
    modify_place(0);
    pthread_join(other, NULL);
}

// MARK: - Fatal errors

void *rl_grown(void *old, size_t used, size_t wanted, size_t size);
bool rl_got_it(uint32_t step);

static void needs_too_much_memory(void) { rl_grown(NULL, 0, SIZE_MAX / 4, 2); }
static void asks_for_no_step(void) { rl_got_it(1u << 20); }

enum { NO_LIMITS = 77 };

/// Sets a limit that leaves no room for the stack of a new thread.
static void needs_a_thread(void) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1) _exit(NO_LIMITS);
    const rlim_t limit = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (1 << 19);
    setrlimit(RLIMIT_AS, &(struct rlimit){limit, limit});
    void *room = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, ANY, 0);
    if (room != MAP_FAILED) _exit(NO_LIMITS);  // an emulator, which ignores such limits
    test t = {.threads = 1, .body = notes_one};
    explore(&t, ANY);
}

/// Runs `act` in a child process, and checks that it aborts with a sentence.
static void check_end(const char *name, void (*act)(void), const char *sentence) {
    int ends[2];
    char text[1024] = "";
    if (pipe(ends) != 0) return expect(name, "pipes", 0, 1);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    size_t count = 0;
    for (ssize_t got; (got = read(ends[0], text + count, sizeof text - 1 - count)) > 0;)
        count += (size_t)got;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    checks++;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_LIMITS) {
        printf("%s: not tried, for lack of limits\n", name);
        return;
    }
    expect(name, "ends by itself", WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, 1);
    const bool says_so = strncmp(text, sentence, strlen(sentence)) == 0;
    if (!says_so) printf("%s: %s\n", name, text);
    expect(name, "says so", says_so, 1);
}

int main(void) {
    check_end("no memory", needs_too_much_memory, "RaceLab is out of memory: it could not allocate ");
    check_end("no threads", needs_a_thread, "RaceLab could not start a thread: ");
    check_end("a fault", asks_for_no_step, "RaceLab has a fault: there is no such step");
    // n threads with k steps each have (nk)! / k!^n interleavings.
    check("one note each, 3 threads", 3, notes_one, ANY, 6, 0, 0);
    check("two notes each, 2 threads", 2, notes_two, ANY, 6, 0, 0);
    check("two notes each, 3 threads", 3, notes_two, ANY, 90, 0, 0);
    check("elsewhere", 3, notes_elsewhere, ANY, 90, 0, 0);
    check("all threads, once", RL_MAX_THREADS, notes_elsewhere, FIRST_RUN, 1, 0, 0);
    check("no preemption", 2, notes_two, 0, 2, 0, 0);
    check("one preemption", 2, notes_two, 1, 4, 0, 0);
    check("reads", 2, reads_twice, ANY, 6, 0, 0);
    check("modifications", 2, modifies, ANY, 2, 0, 2);
    check("modifications under a lock", 3, locks_and_modifies, ANY, 6, 0, 0);
    check("two locks in one order", 2, locks_in_one_order, ANY, 2, 0, 0);
    check("two locks in two orders", 2, locks_in_two_orders, ANY, 4, 2, 0);
    check("message passing", 2, passes_message, ANY, 3, 0, 0);
    check("message passing, relaxed", 2, passes_message_relaxed, ANY, 3, 0, 3);
    check("a flag that no thread sets", 2, waits_in_vain, ANY, 2, 2, 0);
    check("three looks at a flag", 2, looks_three_times, ANY, 4, 0, 0);
    check("three looks, with numbers", 2, looks_three_times_and_counts, ANY, 4, 0, 0);
    check("a condition", 2, waits_for_condition, ANY, 2, 0, 0);
    check("a missed signal", 2, misses_signal, ANY, 2, 1, 0);
    check("a thread that is joined", 1, starts_and_joins, ANY, 1, 0, 0);
    check("a thread that runs at the same time", 1, starts_and_goes_on, ANY, 2, 0, 2);
    printf("%d scenarios, %d failures\n", checks, failures);
    return failures > 0;
}
