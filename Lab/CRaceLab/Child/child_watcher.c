// Checks from the parent whether a child process still makes progress.
//
// A child watches itself, like any exploration: its watcher thread finds threads that block. But a
// lock that another thread held during the fork, such as one of the loader, can block the watcher
// as well. So the parent checks from outside.
//
// A child may also need a global that another thread was initializing during the fork. `swift_once`
// waits for that thread by its number. Once it has ended, the system refuses to wait, and
// `swift_once` asks again, forever: such a child is busy in the kernel.

#include "Child/child.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/// Scheduling data of a thread, or of all threads of a process together.
typedef struct {
    char state;                  // S: sleeping
    unsigned long user, kernel;  // its processor time, in clock ticks
} times;

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

bool rl_child_is_stuck(rl_sight *before) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/stat", before->child);
    times t;
    if (!read_times(path, &t)) return false;
    rl_sight now = *before;
    now.runs = before->recorder->runs;
    now.steps = before->recorder->step_count;
    now.user = t.user;
    now.kernel = t.kernel;
    const bool has_stepped = now.runs != before->runs || now.steps != before->steps;
    if (has_stepped) {
        now.user_at_step = t.user;
        now.kernel_at_step = t.kernel;
    }
    const bool goes_on = has_stepped || t.user + t.kernel > before->user + before->kernel + 1;
    now.looks_asleep = goes_on ? 0 : before->looks_asleep + all_threads_sleep(now.child);
    *before = now;
    const unsigned long in_kernel = t.kernel - now.kernel_at_step;
    const bool spins = in_kernel >= 5 * (unsigned long)sysconf(_SC_CLK_TCK) &&
                       in_kernel > 2 * (t.user - now.user_at_step);
    return now.looks_asleep >= 12 || spins;
}

#endif
