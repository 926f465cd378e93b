// Checks from outside whether the running thread still makes progress.

#include "Scheduler/scheduler.h"

#include "Platform/recording.h"
#include "Scheduler/early_end.h"
#include "Scheduler/runs.h"

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// Scheduling data of a thread from the operating system.
typedef struct {
    char state;      // R: running or runnable; S: sleeping; D: waiting for the disk
    uint64_t turns;  // its context switches so far; on macOS, for how many microseconds it has run
} thread_times;

static int64_t read_clock(clockid_t clock) {
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000ll + time.tv_nsec;
}

#if defined(__linux__)

#include <sys/syscall.h>

/// Reads the status of a thread. Returns false if it has ended. Allocates nothing: how often the
/// watcher looks depends on time, and no address may.
static bool read_status(unsigned number, char *text, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/status", number);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const ssize_t count = read(file, text, size - 1);
    text[count > 0 ? count : 0] = 0;
    close(file);
    return true;
}

static thread_times times_of_number(unsigned number) {
    thread_times times = {0};
    char status[4096];
    if (!read_status(number, status, sizeof status)) return times;
    const char *state = strstr(status, "\nState:\t");
    const char *switches = strstr(status, "\nvoluntary_ctxt_switches:");
    const char *others = strstr(status, "\nnonvoluntary_ctxt_switches:");
    if (state) times.state = state[strlen("\nState:\t")];
    if (switches) times.turns += strtoull(strchr(switches, ':') + 1, NULL, 10);
    if (others) times.turns += strtoull(strchr(others, ':') + 1, NULL, 10);
    return times;
}

/// Whether another thread of the process is runnable, or waits for the disk, for a page of the
/// program for example: the running thread may be waiting for it.
static bool another_thread_goes_on(unsigned number) {
    const int threads = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (threads < 0) return false;
    bool goes_on = false;
    const unsigned watcher = (unsigned)syscall(SYS_gettid);
    _Alignas(struct dirent) char entries[2048];
    for (long size;
         !goes_on && (size = syscall(SYS_getdents64, threads, entries, sizeof entries)) > 0;)
        for (long at = 0; !goes_on && at < size;) {
            const struct dirent *entry = (const struct dirent *)(entries + at);
            at += entry->d_reclen;
            unsigned other = (unsigned)atoi(entry->d_name);
            if (other == 0 || other == number || other == watcher) continue;
            const char state = times_of_number(other).state;
            goes_on = state == 'R' || state == 'D';
        }
    close(threads);
    return goes_on;
}

static thread_times times_of(worker *w) { return times_of_number(w->number); }

/// How long a thread has had a processor, in nanoseconds.
static int64_t time_of(worker *w) {
    // The kernel's name of the clock, as for pthread_getcpuclockid; but the thread may have ended.
    return read_clock((clockid_t)(~w->number << 3 | 6));
}

#elif defined(__APPLE__)

#include <mach/mach.h>

static thread_times times_of(worker *w) {
    thread_basic_info_data_t info;
    mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;
    kern_return_t result = thread_info(pthread_mach_thread_np(w->pthread), THREAD_BASIC_INFO,
                                       (thread_info_t)&info, &count);
    if (result != KERN_SUCCESS) return (thread_times){0};
    uint64_t ran =
        (uint64_t)info.user_time.seconds * 1000000 + (uint64_t)info.user_time.microseconds;
    return (thread_times){info.run_state == TH_STATE_WAITING ? 'S' : 'R', ran};
}

static int64_t time_of(worker *w) { return (int64_t)times_of(w).turns * 1000; }

#endif

static uintptr_t seen_frames[RL_MAX_FRAMES];
static _Atomic int seen_frame_count;

static void look_around(int number) {
    (void)number;
    atomic_store(&seen_frame_count, backtrace((void **)seen_frames, RL_MAX_FRAMES));
}

/// Interrupts a thread with a signal to get its call stack.
static uint32_t frames_of(worker *w) {
    struct sigaction action = {0}, before;
    action.sa_handler = look_around;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGURG, &action, &before);
    atomic_store(&seen_frame_count, -1);
    pthread_kill(w->pthread, SIGURG);
    const struct timespec moment = {0, 1000000};
    for (int i = 0; i < 1000 && atomic_load(&seen_frame_count) < 0; i++) rl_nap(&moment);
    sigaction(SIGURG, &before, NULL);
    int count = atomic_load(&seen_frame_count);
    return count < 0 ? 0 : (uint32_t)count;
}

/// Ends an exploration whose running thread will not hand over again. Returns false if the thread
/// has made progress meanwhile. It is given up before it is interrupted: the signal may end what it
/// waits in, and the thread goes on.
static bool stop(rl_status status, uint64_t seen) {
    worker *lost = lab.running;
    if (!atomic_compare_exchange_strong(&lab.progress, &seen, seen | RL_GIVEN_UP)) return false;
    lost->fate = IS_LOST;
    lab.run.status = rl_exploration.summary.status = status;
    rl_exploration.summary.runs++;
    rl_run run = {0};
    rl_fill_in(&run);
    run.blocked_thread = lost->thread;
    run.frame_count = frames_of(lost);
    memcpy(run.frames, seen_frames, sizeof run.frames);
    rl_dismiss_the_rest();
#if defined(__linux__)
    // A thread that runs forever may run only when the processor is idle. Not so in a child process:
    // it ends only once each of its threads has had a processor, which the parent waits for.
    struct sched_param parameter = {0};
    if (status == RL_SILENT && !rl_recording)
        sched_setscheduler((pid_t)lost->number, SCHED_IDLE, &parameter);
#endif
    for (const rl_service *s = rl_services; s; s = s->next)
        if (s->threads_have_ended) s->threads_have_ended(false);
    rl_exploration.scenario->finished(rl_exploration.scenario->context, &run);
    // The memory that was kept is never freed: the lost thread may still use it.
    rl_exploration.current = NULL;
    return true;
}

/// What the watcher has seen of the running thread since its last progress.
typedef struct {
    uint64_t progress;
    worker *worker;
    thread_times times;
    int64_t ran;
    int looks_asleep;    // how many times in a row, without a context switch in between
    int64_t process_at;  // the time of the process when it fell asleep
    int64_t silent;      // for how many nanoseconds it has run, or slept now and then
} sight;

static void look_again(sight *s, int64_t since_last_look) {
    uint64_t progress = atomic_load(&lab.progress);
    worker *w = lab.running;
    thread_times now = times_of(w);
    const int64_t ran = time_of(w);
    const bool is_same =
        progress == s->progress && w == s->worker && atomic_load(&lab.own_work) == 0;
    const bool is_asleep = is_same && now.state == 'S' && now.turns == s->times.turns;
    s->looks_asleep = is_asleep ? s->looks_asleep + 1 : 0;
    if (!is_asleep) s->process_at = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    if (!is_same)
        s->silent = 0;
    else if (!is_asleep)
        s->silent += now.state == 'S' ? since_last_look : ran - s->ran;
    s->progress = progress;
    s->worker = w;
    s->times = now;
    s->ran = ran;
}

static _Atomic int awaited_looks;
static parker has_looked;

void rl_wait_for_looks(int count) {
    rl_parker_make(&has_looked);
    atomic_store(&awaited_looks, count);
    rl_park(&has_looked, NULL);
}

static void count_look(void) {
    if (atomic_load(&awaited_looks) > 0 && atomic_fetch_sub(&awaited_looks, 1) == 1)
        rl_unpark(&has_looked);
}

/// Looks at the running thread every 50 ms. A thread that sleeps outside its parker for a second,
/// without a context switch, is blocked: every thread that could wake it is parked. If another
/// thread of the process is runnable or waits for the disk, it might wake this one. Then the limit
/// is five seconds in which the process also had a processor for five seconds, or a minute. A
/// thread that runs for twenty seconds without a point, or sleeps again and again, is taken to run
/// forever. Time during which it waits for a processor does not count, nor does time during which
/// the watcher had none.
void rl_watch(void) {
    const struct timespec interval = {0, 50 * 1000 * 1000};
    const int64_t second = 1000 * 1000 * 1000;
    sight s = {0};
    while (!rl_park(&lab.done, &interval)) {
        rl_report_crash_if_any();
        look_again(&s, interval.tv_nsec);
        count_look();
        bool is_blocked = s.looks_asleep >= 20;
#if defined(__linux__)
        const bool had_time = read_clock(CLOCK_PROCESS_CPUTIME_ID) - s.process_at >= 5 * second;
        if (is_blocked && s.looks_asleep < (had_time ? 100 : 1200))
            is_blocked = !another_thread_goes_on(lab.running->number);
#endif
        const bool is_silent = s.silent >= 20 * second;
        if (!is_blocked && !is_silent) continue;
        if (stop(is_blocked ? RL_BLOCKED : RL_SILENT, s.progress)) return;
    }
}
