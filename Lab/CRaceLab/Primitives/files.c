// Files, pipes, sockets, descriptors and the current directory.
//
// A path stands for the name in its directory, and for the file. Standard output and standard error do
// not count, nor do devices other than standard input. Sockets may be connected with each other, so all of them are one thing.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/next_symbol.h"
#include "Primitives/outer_state.h"
#include "Scheduler/operation.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NAME = 1, CONTENTS, LISTING, DESCRIPTOR, SOCKETS, DIRECTORY };

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

static uint64_t key_of(const struct statx *s, int kind) {
    const uint64_t device = (uint64_t)s->stx_dev_major << 32 | s->stx_dev_minor;
    return rl_key(rl_key(device, s->stx_ino), (uint64_t)kind);
}

/// The files that this run has made. The system gives the number of a file that was removed to another.
static uint64_t made_files[256];
static uint32_t made_count;

static void forget_made(void) { made_count = 0; }

static rl_service service = {.run_begins = forget_made};
RL_SERVICE(service)

static void add_made(const struct statx *s) {
    const uint32_t room = sizeof made_files / sizeof *made_files;
    made_files[made_count++ % room] = key_of(s, CONTENTS);
}

static uint64_t contents_of(const struct statx *s) {
    const uint64_t key = key_of(s, CONTENTS);
    const uint32_t room = sizeof made_files / sizeof *made_files;
    uint64_t times = 0;
    for (uint32_t i = 0; i < made_count && i < room; i++) times += made_files[i] == key;
    return rl_key(key, times);
}

/// Adding and removing names commute with each other, but not with reading the list of them.
static void use_listing(const struct statx *folder, bool reads, rl_place place) {
    const uint64_t key = key_of(folder, LISTING);
    if (reads) return use(rl_key(key, (uint64_t)me->thread), RL_CHANGES, place);
    for (int i = 0; i < lab.thread_count; i++)
        if (i != me->thread) use(rl_key(key, (uint64_t)i), RL_LOOKS, place);
}

static void use_name(int folder, const char *path, rl_use how, rl_place place) {
    if (path[0] != '/' && folder == AT_FDCWD) use(DIRECTORY, RL_LOOKS, place);
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') size--;
    size_t start = size;
    while (start > 0 && path[start - 1] != '/') start--;
    char parent[PATH_MAX] = ".";
    if (start >= sizeof parent) return;
    if (start > 0) memcpy(parent, path, start), parent[start] = 0;
    struct statx found;
    const bool exists = look_up(folder, parent, 0, &found);
    const uint64_t of_parent =
        exists ? key_of(&found, NAME) : rl_key_of_text(parent, strlen(parent));
    use(rl_key(of_parent, rl_key_of_text(path + start, size - start)), how, place);
    if (exists && how == RL_CHANGES) use_listing(&found, false, place);
}

static void use_path(int folder, const char *path, rl_use name, rl_use contents, rl_place place) {
    if (!rl_uses_outer_state() || !path) return;
    struct statx found;
    const bool exists = look_up(folder, path, 0, &found);
    if (exists && S_ISCHR(found.stx_mode)) return;
    use_name(folder, path, name, place);
    if (exists && !S_ISDIR(found.stx_mode)) use(contents_of(&found), contents, place);
}

// MARK: - Descriptors

/// How often a descriptor with this number has been made. Another file may have it later.
static uint32_t generations[1024];
static uint32_t *generation(int file) { return &generations[(unsigned)file % 1024]; }

static int made(int file) {
    if (file >= 0 && rl_uses_outer_state()) ++*generation(file);
    return file;
}

/// It is that of a file that has just been made.
static int made_file(int file) {
    struct statx s;
    if (file >= 0 && rl_uses_outer_state() && look_up(file, "", AT_EMPTY_PATH, &s)) add_made(&s);
    return made(file);
}

static bool is_output(int file, const struct statx *s) {
    if (file == STDOUT_FILENO || file == STDERR_FILENO) return true;
    struct statx output;
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++)
        if (look_up(i, "", AT_EMPTY_PATH, &output) && output.stx_ino == s->stx_ino &&
            output.stx_dev_minor == s->stx_dev_minor && output.stx_dev_major == s->stx_dev_major)
            return true;
    return false;
}

/// `moves`: it also moves the position from which others go on.
static void use_descriptor(int file, rl_use contents, bool moves, rl_place place) {
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
    use(contents_of(&s), S_ISREG(s.stx_mode) ? contents : how, place);
}

void rl_reads(int file, rl_place place) { use_descriptor(file, RL_LOOKS, true, place); }

static void use_stream(FILE *stream, rl_use contents, rl_place place) {
    if (rl_uses_outer_state() && stream && stream != stdout && stream != stderr)
        use_descriptor(fileno(stream), contents, true, place);
}

static bool is_for_reading(FILE *stream) {
    return (fcntl(fileno(stream), F_GETFL) & O_ACCMODE) == O_RDONLY;
}

// MARK: - Entry points

/// Replaces a function: does `look`, and calls it.
#define REPLACES(type, name, parameters, arguments, look) \
    typedef type(*type_of_##name) parameters;             \
    REAL(type_of_##name, real_##name, #name)              \
    type name parameters {                                \
        look;                                             \
        return real_##name() arguments;                   \
    }
#define HERE AT_FDCWD
#define LOOKS(path) use_path(HERE, path, RL_LOOKS, RL_LOOKS, RL_CALLER)
#define RENAMES(path) use_path(HERE, path, RL_CHANGES, RL_LOOKS, RL_CALLER)
#define READS(file) use_descriptor(file, RL_LOOKS, true, RL_CALLER)
#define WRITES(file) use_descriptor(file, RL_CHANGES, true, RL_CALLER)

REPLACES(int, access, (const char *p, int mode), (p, mode), LOOKS(p))
REPLACES(int, faccessat, (int f, const char *p, int mode, int flags), (f, p, mode, flags),
         use_path(f, p, RL_LOOKS, RL_LOOKS, RL_CALLER))
REPLACES(int, stat, (const char *p, struct stat *s), (p, s), LOOKS(p))
REPLACES(int, lstat, (const char *p, struct stat *s), (p, s), LOOKS(p))
REPLACES(int, stat64, (const char *p, struct stat64 *s), (p, s), LOOKS(p))
REPLACES(int, lstat64, (const char *p, struct stat64 *s), (p, s), LOOKS(p))
REPLACES(int, fstatat, (int f, const char *p, struct stat *s, int flags), (f, p, s, flags),
         use_path(f, p, RL_LOOKS, RL_LOOKS, RL_CALLER))
REPLACES(int, fstat, (int file, struct stat *s), (file, s),
         use_descriptor(file, RL_LOOKS, false, RL_CALLER))
REPLACES(ssize_t, readlink, (const char *p, char *to, size_t size), (p, to, size), LOOKS(p))
REPLACES(int, mkdir, (const char *p, mode_t mode), (p, mode), RENAMES(p))
REPLACES(int, rmdir, (const char *p), (p), RENAMES(p))
REPLACES(int, unlink, (const char *p), (p), RENAMES(p))
REPLACES(int, unlinkat, (int f, const char *p, int flags), (f, p, flags),
         use_path(f, p, RL_CHANGES, RL_LOOKS, RL_CALLER))
REPLACES(int, remove, (const char *p), (p), RENAMES(p))
REPLACES(int, symlink, (const char *to, const char *p), (to, p), RENAMES(p))
REPLACES(int, link, (const char *from, const char *p), (from, p), (LOOKS(from), RENAMES(p)))
REPLACES(int, rename, (const char *from, const char *to), (from, to), (RENAMES(from), RENAMES(to)))
REPLACES(int, renameat, (int f, const char *from, int t, const char *to), (f, from, t, to),
         (use_path(f, from, RL_CHANGES, RL_LOOKS, RL_CALLER),
          use_path(t, to, RL_CHANGES, RL_LOOKS, RL_CALLER)))
REPLACES(int, truncate, (const char *p, off_t size), (p, size),
         use_path(HERE, p, RL_LOOKS, RL_CHANGES, RL_CALLER))
REPLACES(int, ftruncate, (int file, off_t size), (file, size), WRITES(file))
REPLACES(int, chmod, (const char *p, mode_t mode), (p, mode),
         use_path(HERE, p, RL_LOOKS, RL_CHANGES, RL_CALLER))
REPLACES(off_t, lseek, (int file, off_t to, int from), (file, to, from), READS(file))
REPLACES(ssize_t, write, (int file, const void *from, size_t size), (file, from, size),
         WRITES(file))
REPLACES(ssize_t, readv, (int file, const struct iovec *to, int count), (file, to, count),
         READS(file))
REPLACES(ssize_t, writev, (int file, const struct iovec *from, int count), (file, from, count),
         WRITES(file))
REPLACES(ssize_t, pread, (int file, void *to, size_t size, off_t at), (file, to, size, at),
         use_descriptor(file, RL_LOOKS, false, RL_CALLER))
REPLACES(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at),
         (file, from, size, at), use_descriptor(file, RL_CHANGES, false, RL_CALLER))
REPLACES(int, flock, (int file, int how), (file, how), WRITES(file))
REPLACES(int, lockf, (int file, int how, off_t size), (file, how, size), WRITES(file))
REPLACES(int, close, (int file), (file), READS(file))
REPLACES(int, dup2, (int from, int to), (from, to), READS(to))
REPLACES(int, eventfd_read, (int file, uint64_t *to), (file, to), READS(file))
REPLACES(int, eventfd_write, (int file, uint64_t by), (file, by), WRITES(file))
REPLACES(ssize_t, send, (int file, const void *from, size_t size, int flags),
         (file, from, size, flags), WRITES(file))
REPLACES(ssize_t, recv, (int file, void *to, size_t size, int flags), (file, to, size, flags),
         READS(file))
REPLACES(ssize_t, sendto,
         (int file, const void *from, size_t size, int flags, const struct sockaddr *to,
          socklen_t length),
         (file, from, size, flags, to, length), WRITES(file))
REPLACES(ssize_t, recvfrom,
         (int file, void *to, size_t size, int flags, struct sockaddr *from, socklen_t *length),
         (file, to, size, flags, from, length), READS(file))
REPLACES(int, bind, (int file, const struct sockaddr *to, socklen_t length), (file, to, length),
         WRITES(file))
REPLACES(int, listen, (int file, int count), (file, count), WRITES(file))
REPLACES(int, connect, (int file, const struct sockaddr *to, socklen_t length), (file, to, length),
         WRITES(file))
REPLACES(int, accept, (int file, struct sockaddr *from, socklen_t *length), (file, from, length),
         READS(file))
REPLACES(int, shutdown, (int file, int how), (file, how), WRITES(file))

REPLACES(size_t, fread, (void *to, size_t size, size_t count, FILE *s), (to, size, count, s),
         use_stream(s, RL_LOOKS, RL_CALLER))
REPLACES(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *s),
         (from, size, count, s), use_stream(s, RL_CHANGES, RL_CALLER))
REPLACES(char *, fgets, (char *to, int size, FILE *s), (to, size, s),
         use_stream(s, RL_LOOKS, RL_CALLER))
REPLACES(int, fgetc, (FILE * s), (s), use_stream(s, RL_LOOKS, RL_CALLER))
REPLACES(ssize_t, getline, (char **to, size_t *size, FILE *s), (to, size, s),
         use_stream(s, RL_LOOKS, RL_CALLER))
// `getline`, where the compiler has inlined it; of Swift, `readLine`.
REPLACES(ssize_t, __getdelim, (char **to, size_t *size, int end, FILE *s), (to, size, end, s),
         use_stream(s, RL_LOOKS, RL_CALLER))
REPLACES(int, fputs, (const char *text, FILE *s), (text, s), use_stream(s, RL_CHANGES, RL_CALLER))
REPLACES(int, fputc, (int byte, FILE *s), (byte, s), use_stream(s, RL_CHANGES, RL_CALLER))
REPLACES(int, vfprintf, (FILE * s, const char *format, va_list rest), (s, format, rest),
         use_stream(s, RL_CHANGES, RL_CALLER))
REPLACES(int, fseek, (FILE * s, long to, int from), (s, to, from),
         use_stream(s, RL_LOOKS, RL_CALLER))
REPLACES(int, fclose, (FILE * s), (s),
         use_stream(s, is_for_reading(s) ? RL_LOOKS : RL_CHANGES, RL_CALLER))

REPLACES(int, chdir, (const char *p), (p),
         if (rl_uses_outer_state())
             rl_use_outer_state(DIRECTORY, RL_CHANGES,
                                "changes the current directory, which another thread uses",
                                RL_CALLER))
REPLACES(char *, getcwd, (char *to, size_t size), (to, size),
         if (rl_uses_outer_state()) use(DIRECTORY, RL_LOOKS, RL_CALLER))

/// The thread reads the names in a folder.
static void list(const char *path, rl_place place) {
    struct statx found;
    if (!rl_uses_outer_state() || !path) return;
    use_name(HERE, path, RL_LOOKS, place);
    if (look_up(HERE, path, 0, &found)) use_listing(&found, true, place);
}

REPLACES(DIR *, opendir, (const char *p), (p), list(p, RL_CALLER))

// Those that make a descriptor.

/// Returns whether it makes the file.
static bool open_path(int folder, const char *path, int flags, rl_place place) {
    if (!rl_uses_outer_state() || !path) return false;
    struct statx found;
    const bool makes = flags & O_CREAT && !look_up(folder, path, 0, &found);
    use_path(folder, path, makes ? RL_CHANGES : RL_LOOKS, flags & O_TRUNC ? RL_CHANGES : RL_LOOKS,
             place);
    return makes;
}

#define OPENS(name)                                                 \
    typedef int (*type_of_##name)(const char *, int, ...);          \
    REAL(type_of_##name, real_##name, #name)                        \
    int name(const char *path, int flags, ...) {                    \
        va_list rest;                                               \
        va_start(rest, flags);                                      \
        const mode_t mode = va_arg(rest, mode_t);                   \
        va_end(rest);                                               \
        const bool makes = open_path(HERE, path, flags, RL_CALLER); \
        const int file = real_##name()(path, flags, mode);          \
        return makes ? made_file(file) : made(file);                \
    }
OPENS(open)
OPENS(open64)

typedef int (*open_in)(int, const char *, int, ...);
REAL(open_in, real_openat, "openat")
int openat(int folder, const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    const bool makes = open_path(folder, path, flags, RL_CALLER);
    const int file = real_openat()(folder, path, flags, mode);
    return makes ? made_file(file) : made(file);
}

#define OPENS_STREAM(name)                                                                   \
    typedef FILE *(*type_of_##name)(const char *, const char *);                             \
    REAL(type_of_##name, real_##name, #name)                                                 \
    FILE *name(const char *path, const char *mode) {                                         \
        const int flags = mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : O_CREAT; \
        const bool makes = open_path(HERE, path, flags, RL_CALLER);                          \
        FILE *stream = real_##name()(path, mode);                                            \
        if (stream) makes ? made_file(fileno(stream)) : made(fileno(stream));                \
        return stream;                                                                       \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

#define MAKES(name, parameters, arguments)   \
    typedef int(*type_of_##name) parameters; \
    REAL(type_of_##name, real_##name, #name) \
    int name parameters { return made(real_##name() arguments); }
MAKES(dup, (int file), (file))
MAKES(socket, (int domain, int type, int protocol), (domain, type, protocol))

typedef int (*make_temporary)(char *);
REAL(make_temporary, real_mkstemp, "mkstemp")
int mkstemp(char *path) { return made_file(real_mkstemp()(path)); }

#define MAKES_TWO(name, parameters, arguments, files)    \
    typedef int(*type_of_##name) parameters;             \
    REAL(type_of_##name, real_##name, #name)             \
    int name parameters {                                \
        const int result = real_##name() arguments;      \
        if (result == 0) made(files[0]), made(files[1]); \
        return result;                                   \
    }
MAKES_TWO(pipe, (int files[2]), (files), files)
MAKES_TWO(pipe2, (int files[2], int flags), (files, flags), files)
MAKES_TWO(socketpair, (int domain, int type, int protocol, int files[2]),
          (domain, type, protocol, files), files)

#endif
