// Checks from the parent whether a child process still makes progress.
//
// A child watches itself, like any exploration: its watcher thread finds threads that block. But a
// lock that another thread held during the fork, such as one of the loader, can block the watcher
// as well. So the parent checks from outside.

#include "Child/child.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/// Whether a thread sleeps; adds its processor time to `ticks`.
static bool thread_sleeps(pid_t child, const char *thread, unsigned long *ticks) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", child, thread);
    FILE *file = fopen(path, "r");
    if (!file) return true;  // the thread has just ended
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    char state = 'R';
    unsigned long user = 0, system = 0;
    if (rest)
        sscanf(rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user,
               &system);
    *ticks += user + system;
    return state == 'S';
}

static bool all_threads_sleep(pid_t child, unsigned long *ticks) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d/task", child);
    DIR *threads = opendir(path);
    if (!threads) return false;
    bool asleep = true;
    *ticks = 0;
    for (struct dirent *entry; (entry = readdir(threads));)
        if (entry->d_name[0] != '.') asleep &= thread_sleeps(child, entry->d_name, ticks);
    closedir(threads);
    return asleep;
}

bool rl_child_is_stuck(rl_sight *before) {
    rl_sight now = {.child = before->child,
                    .recorder = before->recorder,
                    .runs = before->recorder->runs,
                    .steps = before->recorder->step_count};
    const bool is_asleep = all_threads_sleep(now.child, &now.ticks);
    const bool goes_on =
        now.runs != before->runs || now.steps != before->steps || now.ticks > before->ticks + 1;
    now.looks_asleep = goes_on ? 0 : before->looks_asleep + is_asleep;
    *before = now;
    return now.looks_asleep >= 12;
}

#endif
