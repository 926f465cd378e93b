// Which files, names, descriptors and folders a call uses.
//
// A path stands for each name on it, including those in symbolic links, and for the file. Standard
// output and standard error do not count, nor do devices other than standard input. Sockets may be
// connected with each other, so all of them count as one.

#include "Primitives/next_symbol.h"
#include "Primitives/outer_state.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = 1, CONTENTS, LISTING, LINKS, DESCRIPTOR, SOCKETS, DIRECTORY };

static void use(uint64_t key, rl_use how, rl_place place) {
    static const char what[] =
        "uses a file that another thread uses, too, and one of them changes it";
    rl_use_outer_state(key, how, what, place);
}

// MARK: - Paths

static bool look_up(int folder, const char *path, int flags, struct statx *found) {
    const int saved = errno;
    const bool exists = statx(folder, path, flags, STATX_BASIC_STATS, found) == 0;
    errno = saved;
    return exists;
}

/// The files and folders that this run has made. The system reuses the number of a file that was
/// removed.
static struct {
    uint64_t numbers[256];
    uint32_t count;
} made_files;

RL_OF_RUN(made_files)

static uint64_t number_of(const struct statx *s) {
    const uint64_t device = (uint64_t)s->stx_dev_major << 32 | s->stx_dev_minor;
    return rl_key(device, s->stx_ino);
}

static void add_made(const struct statx *s) {
    const uint32_t room = sizeof made_files.numbers / sizeof *made_files.numbers;
    made_files.numbers[made_files.count++ % room] = number_of(s);
}

static uint64_t key_of(const struct statx *s, int kind) {
    const uint64_t number = number_of(s);
    const uint32_t room = sizeof made_files.numbers / sizeof *made_files.numbers;
    uint64_t times = 0;
    for (uint32_t i = 0; i < made_files.count && i < room; i++)
        times += made_files.numbers[i] == number;
    return rl_key(rl_key(number, (uint64_t)kind), times);
}

/// Changes of a set, such as the names in a folder, commute with each other, but not with a read.
static void use_set(uint64_t key, bool reads, rl_place place) {
    if (reads) return use(rl_key(key, (uint64_t)me->thread), RL_CHANGES, place);
    for (int i = 0; i < lab.run.thread_count; i++)
        if (i != me->thread) use(rl_key(key, (uint64_t)i), RL_LOOKS, place);
}

/// Returns whether the last name of a path, which starts at `start`, is a symbolic link. `to` is
/// the path to which it leads.
static bool follow(int folder, const char *path, size_t start, char to[PATH_MAX]) {
    const int saved = errno;
    char link[PATH_MAX];
    const ssize_t size = REAL(readlinkat)(folder, path, link, sizeof link - 1);
    errno = saved;
    if (size <= 0) return false;
    link[size] = 0;
    snprintf(to, PATH_MAX, "%.*s%s", link[0] == '/' ? 0 : (int)start, path, link);
    return true;
}

/// The thread uses the last name of a path, and looks up the others. At most `links` symbolic links
/// are followed.
static void use_names(int folder, const char *path, rl_use last, int links, rl_place place) {
    if (path[0] != '/' && folder == AT_FDCWD) use(DIRECTORY, RL_LOOKS, place);
    char part[PATH_MAX], target[PATH_MAX];
    struct statx parent, found;
    if (strlen(path) >= sizeof part || !look_up(folder, path[0] == '/' ? "/" : ".", 0, &parent))
        return;
    size_t end = 0;
    while (true) {
        const size_t start = end + strspn(path + end, "/");
        end = start + strcspn(path + start, "/");
        if (start == end) return;
        const bool is_last = path[end + strspn(path + end, "/")] == 0;
        const rl_use how = is_last ? last : RL_LOOKS;
        const uint64_t name = rl_key_of_text(path + start, end - start);
        use(rl_key(key_of(&parent, NAME), name), how, place);
        if (how == RL_CHANGES) use_set(key_of(&parent, LISTING), false, place);
        memcpy(part, path, end);
        part[end] = 0;
        const bool exists = look_up(folder, part, 0, &found);
        // A file made through a link without a target has the name of the target.
        if (links > 0 && follow(folder, part, start, target))
            use_names(folder, target, exists ? RL_LOOKS : how, links - 1, place);
        if (!exists) return;
        parent = found;
    }
}

void rl_use_path(int folder, const char *path, rl_use name, rl_use contents, rl_place place) {
    if (!rl_uses_outer_state() || !path) return;
    struct statx found;
    const bool exists = look_up(folder, path, 0, &found);
    if (exists && S_ISCHR(found.stx_mode)) return;
    use_names(folder, path, name, 8, place);
    if (!exists || S_ISDIR(found.stx_mode)) return;
    use(key_of(&found, CONTENTS), contents, place);
    if (name == RL_CHANGES) use_set(key_of(&found, LINKS), false, place);
}

int rl_made_path(int result, int folder, const char *path) {
    struct statx s;
    if (result == 0 && rl_uses_outer_state() && look_up(folder, path, 0, &s)) add_made(&s);
    return result;
}

void rl_list(const char *path, rl_place place) {
    struct statx found;
    if (!rl_uses_outer_state() || !path) return;
    use_names(AT_FDCWD, path, RL_LOOKS, 8, place);
    if (look_up(AT_FDCWD, path, 0, &found)) use_set(key_of(&found, LISTING), true, place);
}

void rl_list_open(int folder, rl_place place) {
    struct statx found;
    if (rl_uses_outer_state() && look_up(folder, "", AT_EMPTY_PATH, &found))
        use_set(key_of(&found, LISTING), true, place);
}

void rl_list_matches(const char *pattern, rl_place place) {
    char path[PATH_MAX] = ".";
    size_t size = strcspn(pattern, "*?[");
    while (size > 0 && pattern[size - 1] != '/') size--;
    if (size >= sizeof path) return;
    if (size > 0) memcpy(path, pattern, size), path[size] = 0;
    rl_list(path, place);
}

bool rl_open_path(int folder, const char *path, int flags, rl_place place) {
    if (!rl_uses_outer_state() || !path) return false;
    struct statx found;
    const bool makes = flags & O_CREAT && !look_up(folder, path, 0, &found);
    rl_use_path(folder, path, makes ? RL_CHANGES : RL_LOOKS,
                flags & O_TRUNC ? RL_CHANGES : RL_LOOKS, place);
    return makes;
}

void rl_use_directory(rl_use how, rl_place place) {
    static const char what[] = "changes the current directory, which another thread uses";
    if (!rl_uses_outer_state()) return;
    if (how == RL_LOOKS) return use(DIRECTORY, how, place);
    rl_use_outer_state(DIRECTORY, how, what, place);
}

// MARK: - Descriptors

/// How often a descriptor with this number has been made. Another file may have it later.
static uint32_t generations[1024];
static uint32_t *generation(int file) { return &generations[(unsigned)file % 1024]; }

int rl_made_descriptor(int file) {
    if (file >= 0 && rl_uses_outer_state()) ++*generation(file);
    return file;
}

int rl_made_file(int file) {
    struct statx s;
    if (file >= 0 && rl_uses_outer_state() && look_up(file, "", AT_EMPTY_PATH, &s)) add_made(&s);
    return rl_made_descriptor(file);
}

static bool is_output(int file, const struct statx *s) {
    if (file == STDOUT_FILENO || file == STDERR_FILENO) return true;
    struct statx output;
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
        if (look_up(i, "", AT_EMPTY_PATH, &output) && number_of(&output) == number_of(s))
            return true;
    return false;
}

void rl_use_descriptor(int file, rl_use contents, bool moves, rl_place place) {
    if (!rl_uses_outer_state()) return;
    struct statx s;
    const bool exists = look_up(file, "", AT_EMPTY_PATH, &s);
    const bool is_input = file == STDIN_FILENO;
    if (exists && !is_input && (S_ISCHR(s.stx_mode) || is_output(file, &s))) return;
    // Dispatch and run loops wake their threads in this way.
    const bool has_type = exists && (s.stx_mode & S_IFMT) != 0;
    if (exists && !is_input && !has_type && !rl_is_of_program(place.pc)) return;
    const rl_use how = moves ? RL_CHANGES : RL_LOOKS;
    use(rl_key(rl_key((uint64_t)file, *generation(file)), DESCRIPTOR), how, place);
    // A terminal has no contents that a thread could change.
    if (!has_type || S_ISCHR(s.stx_mode)) return;
    if (S_ISSOCK(s.stx_mode)) return use(SOCKETS, how, place);
    // Reading from a pipe removes what was read.
    use(key_of(&s, CONTENTS), S_ISFIFO(s.stx_mode) ? how : contents, place);
}

void rl_count_links(int file, rl_place place) {
    struct statx s;
    if (!rl_uses_outer_state() || !rl_is_of_program(place.pc)) return;
    if (look_up(file, "", AT_EMPTY_PATH, &s)) use_set(key_of(&s, LINKS), true, place);
}

#endif
