// Looks from outside whether a child process still gets on.
//
// A child watches itself, like any exploration: a thread that blocks is found by the thread that
// watches. But what another thread of the parent held when it was copied, a lock of the loader's
// say, may stop that one too. So the parent looks from outside.

#include "Child/child.h"
#include "Platform/clock.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/// Whether a thread sleeps; adds the time for which it has run.
static bool thread_sleeps(pid_t child, const char *thread, unsigned long *ticks) {
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/task/%s/stat", child, thread);
    FILE *file = fopen(path, "r");
    if (!file) return true;  // it has just ended
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    char state = 'R';
    unsigned long user = 0, system = 0;
    if (rest)
        sscanf(rest, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &state, &user, &system);
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
    rl_sight now = {.child = before->child, .recorder = before->recorder, .since = before->since,
                 .runs = before->recorder->runs, .steps = before->recorder->step_count};
    bool asleep = all_threads_sleep(now.child, &now.ticks);
    bool same = asleep && now.runs == before->runs && now.steps == before->steps &&
                now.ticks <= before->ticks + 1;
    if (!same) now.since = rl_milliseconds();
    *before = now;
    return same && rl_milliseconds() - now.since >= 3000;
}

#endif
