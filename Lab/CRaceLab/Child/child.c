// Explorations in a child process, for code that may crash. The child is a copy of this process
// (`fork`), because closures cannot be sent to another program. The copy has a single thread: a
// lock that another thread held during the fork is never released there. So the engine resets its
// state in the child, and the thread that forks holds the locks of the Swift half. The C library
// takes those of `malloc` and of streams itself. Those of the loader, of the Swift runtime and of
// other libraries remain: if the child needs one, it blocks, or asks for it forever. The parent
// notices that and forks again (Isolated.swift); it never becomes a finding.

#include "Platform/clock.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Scheduler/scheduler.h"
#include "Symbols/source_lines.h"

#if defined(__linux__)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: - In the child: limits and work

/// Allows `bytes` more than the process uses now. The stacks of the lab's threads do not count.
static void limit_memory(uint64_t bytes) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) != 1) pages = 0;
        fclose(file);
    }
    if (pages == 0) return;
    rlim_t limit = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    setrlimit(RLIMIT_DATA, &(struct rlimit){limit, RLIM_INFINITY});
}

static void *do_work(void *argument) {
    const rl_errand *errand = argument;
    rl_expect_crashes();
    errand->work(errand->context);
    fflush(NULL);
    return NULL;
}

/// Runs the work on a fresh thread. The child's only thread has a history: `Mutex`, for example,
/// knows it by its thread number in the parent.
_Noreturn static void be_child(const rl_errand *errand, int errors) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(errors, STDERR_FILENO);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    limit_memory(errand->memory);
    rl_record_crashes();
    rl_begin_in_child(errand->max_steps + 2);
    pthread_t thread;
    const int result = pthread_create(&thread, NULL, do_work, (void *)errand);
    if (result != 0) rl_end_without_thread(result);
    pthread_join(thread, NULL);
    _exit(0);
}

// MARK: - Whether the child still makes progress

// A child watches itself, like any exploration: its watcher thread finds threads that block. But a
// lock that another thread held during the fork, such as one of the loader, can block the watcher
// as well. So the parent checks from outside.
//
// A child may also need a global that another thread was initializing during the fork. `swift_once`
// waits for that thread by its number. Once it has ended, the system refuses to wait, and
// `swift_once` asks again, forever: such a child is busy in the kernel.

/// Scheduling data of a thread, or of all threads of a process together.
typedef struct {
    char state;                  // S: sleeping
    unsigned long user, kernel;  // its processor time, in clock ticks
} times;

/// A snapshot of a child's progress.
typedef struct {
    pid_t child;
    const rl_recorder *recorder;
    uint64_t runs;
    uint32_t steps;
    times now, at_step;  // at its last step
    int looks_asleep;    // since its last progress: how often all of its threads were asleep
} sight;

/// Returns false if there is no such file, or none can be opened now.
static bool read_times(const char *path, times *t) {
    FILE *file = fopen(path, "r");
    if (!file) return false;
    char line[512];
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return rest && sscanf(rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &t->state,
                          &t->user, &t->kernel) == 3;
}

static bool all_threads_sleep(pid_t child) {
    char folder[32], path[sizeof folder + 264];
    snprintf(folder, sizeof folder, "/proc/%d/task", child);
    DIR *threads = opendir(folder);
    if (!threads) return false;
    bool asleep = true;
    for (struct dirent *entry; (entry = readdir(threads));) {
        snprintf(path, sizeof path, "%s/%s/stat", folder, entry->d_name);
        times t;
        // A thread without times has just ended.
        if (entry->d_name[0] != '.' && read_times(path, &t)) asleep &= t.state == 'S';
    }
    closedir(threads);
    return asleep;
}

/// Called every quarter of a second. Returns whether a child is stuck: all of its threads were
/// asleep in twelve calls since its last progress, or it has spent five seconds, and most of its
/// time, in the kernel since its last step. The child's own watcher thread wakes up now and then:
/// such a call is not counted, and the little processor time that it takes is no progress.
static bool is_stuck(sight *before) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", before->child);
    times t;
    if (!read_times(path, &t)) return false;
    sight now = *before;
    now.runs = before->recorder->runs;
    now.steps = before->recorder->step_count;
    now.now = t;
    const bool has_stepped = now.runs != before->runs || now.steps != before->steps;
    if (has_stepped) now.at_step = t;
    const times last = before->now;
    const bool goes_on = has_stepped || t.user + t.kernel > last.user + last.kernel + 1;
    now.looks_asleep = goes_on ? 0 : before->looks_asleep + all_threads_sleep(now.child);
    *before = now;
    const unsigned long in_kernel = t.kernel - now.at_step.kernel;
    const bool spins = in_kernel >= 5 * (unsigned long)sysconf(_SC_CLK_TCK) &&
                       in_kernel > 2 * (t.user - now.at_step.user);
    return now.looks_asleep >= 12 || spins;
}

// MARK: - In the parent

/// Collects what the child writes to a pipe.
typedef struct {
    int from;
    char **bytes;
    size_t *count;
    size_t capacity;
} stream;

/// Returns false at end of file.
static bool read_some(stream *s) {
    if (s->capacity - *s->count < 4096) {
        size_t wanted = s->capacity ? 2 * s->capacity : 16 * 1024;
        *s->bytes = rl_grown(*s->bytes, *s->count, wanted, 1);
        s->capacity = wanted;
    }
    ssize_t got = read(s->from, *s->bytes + *s->count, s->capacity - *s->count);
    if (got < 0) return errno == EINTR;
    *s->count += (size_t)got;
    return got > 0;
}

// MARK: - Output of the child

/// Caps the output that the parent stores, in case the child writes in an endless loop.
static const size_t enough = 64 * 1024 * 1024;

/// Whether the child has ended. A process that it started may still keep its output open.
static bool has_ended(pid_t child) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == child;
}

/// Reads the child's output to the end. Returns false if the child exceeded its time limit, wrote
/// too much, or is stuck.
static bool read_all(const rl_errand *errand, stream *streams, int count, int64_t until,
                     sight *seen, bool *stuck) {
    const int64_t interval = 250;
    int64_t next_look = rl_milliseconds() + interval, next_report = rl_milliseconds() + 1000;
    uint64_t most_runs = 0;
    int open = count;
    while (open > 0) {
        if (rl_milliseconds() >= next_look) {
            if ((*stuck = is_stuck(seen))) return false;
            next_look = rl_milliseconds() + interval;
        }
        if (errand->progressed && rl_milliseconds() >= next_report) {
            // A further exploration in the same child starts counting from zero.
            const uint64_t runs = seen->recorder->runs;
            if (runs >= most_runs)
                errand->progressed(errand->context, runs, seen->recorder->redundant);
            if (runs > most_runs) most_runs = runs;
            next_report += 1000;
        }
        struct pollfd waiting[2];
        for (int i = 0; i < count; i++)
            waiting[i] = (struct pollfd){.fd = streams[i].from, .events = POLLIN};
        int64_t left = until - rl_milliseconds();
        if (left <= 0) return false;
        const bool is_last = has_ended(seen->child);
        const int64_t time = is_last ? 0 : left > interval ? interval : left;
        if (poll(waiting, (nfds_t)count, (int)time) == 0 && is_last) return true;
        for (int i = 0; i < count; i++) {
            if (!waiting[i].revents) continue;
            if (*streams[i].count > enough) return false;
            if (read_some(&streams[i])) continue;
            close(streams[i].from);
            streams[i].from = -1;  // `poll` ignores it
            open--;
        }
    }
    return true;
}

static rl_recorder *new_recorder(uint32_t max_steps, size_t *size) {
    *size = sizeof(rl_recorder) + ((size_t)max_steps + 2) * sizeof(rl_step);
    const int flags = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
    void *memory = mmap(NULL, *size, PROT_READ | PROT_WRITE, flags, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/// Retries for two seconds: other processes may have exhausted memory or the process table for a
/// moment.
static pid_t fork_in_time(void) {
    const struct timespec moment = {0, 20 * 1000 * 1000};
    const int attempts = 100;
    for (int i = 1;; i++) {
        rl_lock_memory();
        pid_t child = fork();
        rl_unlock_memory();
        if (child >= 0 || i == attempts || (errno != EAGAIN && errno != ENOMEM)) return child;
        rl_nap(&moment);
    }
}

static pid_t fork_child(const rl_errand *errand, rl_recorder *recorder, int errors) {
    fflush(NULL);                              // or the child would write the buffers again
    rl_read_symbols((uintptr_t)errand->work);  // or each child would read them
    errand->before(errand->context);
    pid_t child = fork_in_time();
    if (child == 0) rl_recording = recorder;
    errand->after(errand->context);
    if (child == 0) be_child(errand, errors);
    return child;
}

static void wait_for(const rl_errand *errand, pid_t child, int results, int errors, int64_t until,
                     rl_child *answer) {
    stream streams[] = {
        {.from = results, .bytes = &answer->results, .count = &answer->result_count},
        {.from = errors, .bytes = &answer->errors, .count = &answer->error_count}};
    sight seen = {.child = child, .recorder = answer->recorder};
    bool ended = read_all(errand, streams, 2, until, &seen, &answer->is_stuck);
    answer->time_is_up = !ended && !answer->is_stuck;
    if (!ended) kill(child, SIGKILL);
    for (int i = 0; i < 2; i++)
        if (streams[i].from >= 0) close(streams[i].from);
    while (waitpid(child, &answer->status, 0) < 0 && errno == EINTR) {}
}

static bool make_pipes(int results[2], int errors[2]) {
    if (pipe2(results, O_CLOEXEC) != 0) return false;
    if (pipe2(errors, O_CLOEXEC) == 0) return true;
    close(results[0]);
    close(results[1]);
    return false;
}

bool rl_run_in_child(rl_errand *errand, rl_child *answer) {
    memset(answer, 0, sizeof *answer);
    int results[2], errors[2];
    answer->recorder = new_recorder(errand->max_steps, &answer->recorder_size);
    if (!answer->recorder) return false;
    if (!make_pipes(results, errors)) return false;
    errand->results = results[1];
    rl_hold_explorations();
    pid_t child = fork_child(errand, answer->recorder, errors[1]);
    // The time limit starts here, so that waiting for other explorations or for symbol lookups does
    // not count.
    int64_t began = rl_milliseconds();
    int64_t until = began + errand->milliseconds;
    close(results[1]);
    close(errors[1]);
    if (child > 0) wait_for(errand, child, results[0], errors[0], until, answer);
    answer->milliseconds = rl_milliseconds() - began;
    rl_release_explorations();
    if (child > 0) return true;
    close(results[0]);
    close(errors[0]);
    return false;
}

void rl_forget_child(rl_child *answer) {
    rl_discard(answer->results);
    rl_discard(answer->errors);
    if (answer->recorder) munmap(answer->recorder, answer->recorder_size);
}

const char *rl_no_children(void) { return NULL; }

#else

// MARK: - Platforms without child processes

bool rl_run_in_child(rl_errand *errand, rl_child *answer) {
    (void)errand, (void)answer;
    return false;
}

void rl_forget_child(rl_child *answer) { (void)answer; }

const char *rl_no_children(void) {
    return "the lab can isolate an exploration in a child process on Linux only: elsewhere a copy "
           "of a process that has several threads may not go on";
}

#endif
