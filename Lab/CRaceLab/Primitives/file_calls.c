// Entry points: the calls that use files, pipes, sockets, descriptors and the current directory.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/files.h"
#include "Primitives/next_symbol.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

static void use_stream(FILE *stream, rl_use contents, rl_place place) {
    if (rl_uses_outer_state() && stream && stream != stdout && stream != stderr)
        rl_use_descriptor(fileno(stream), contents, true, place);
}

#define HERE AT_FDCWD
#define LOOKS_IN(folder, path) rl_use_path(folder, path, RL_LOOKS, RL_LOOKS, RL_CALLER)
#define RENAMES_IN(folder, path) rl_use_path(folder, path, RL_CHANGES, RL_LOOKS, RL_CALLER)
#define ALTERS_IN(folder, path) rl_use_path(folder, path, RL_LOOKS, RL_CHANGES, RL_CALLER)
#define LOOKS(path) LOOKS_IN(HERE, path)
#define RENAMES(path) RENAMES_IN(HERE, path)
#define ALTERS(path) ALTERS_IN(HERE, path)
#define READS(file) rl_use_descriptor(file, RL_LOOKS, true, RL_CALLER)
#define WRITES(file) rl_use_descriptor(file, RL_CHANGES, true, RL_CALLER)
#define LOOKS_AT(file) rl_use_descriptor(file, RL_LOOKS, false, RL_CALLER)
#define ALTERS_OPEN(file) rl_use_descriptor(file, RL_CHANGES, false, RL_CALLER)
#define READS_FROM(stream) use_stream(stream, RL_LOOKS, RL_CALLER)
#define WRITES_TO(stream) use_stream(stream, RL_CHANGES, RL_CALLER)

REPLACES(int, access, (const char *p, int mode), (p, mode), LOOKS(p))
REPLACES(int, faccessat, (int f, const char *p, int mode, int flags), (f, p, mode, flags),
         LOOKS_IN(f, p))
REPLACES(int, stat, (const char *p, struct stat *s), (p, s), LOOKS(p))
REPLACES(int, lstat, (const char *p, struct stat *s), (p, s), LOOKS(p))
REPLACES(int, stat64, (const char *p, struct stat64 *s), (p, s), LOOKS(p))
REPLACES(int, lstat64, (const char *p, struct stat64 *s), (p, s), LOOKS(p))
REPLACES(int, fstatat, (int f, const char *p, struct stat *s, int flags), (f, p, s, flags),
         LOOKS_IN(f, p))
REPLACES(int, fstat, (int file, struct stat *s), (file, s),
         (LOOKS_AT(file), rl_count_links(file, RL_CALLER)))
REPLACES(char *, realpath, (const char *p, char *to), (p, to), LOOKS(p))
REPLACES(ssize_t, readlink, (const char *p, char *to, size_t size), (p, to, size), LOOKS(p))
REPLACES(ssize_t, readlinkat, (int f, const char *p, char *to, size_t size), (f, p, to, size),
         LOOKS_IN(f, p))
REPLACES(int, rmdir, (const char *p), (p), RENAMES(p))
REPLACES(int, unlink, (const char *p), (p), RENAMES(p))
REPLACES(int, unlinkat, (int f, const char *p, int flags), (f, p, flags), RENAMES_IN(f, p))
REPLACES(int, remove, (const char *p), (p), RENAMES(p))
REPLACES(int, symlink, (const char *to, const char *p), (to, p), RENAMES(p))
REPLACES(int, link, (const char *from, const char *p), (from, p), (LOOKS(from), RENAMES(p)))
REPLACES(int, symlinkat, (const char *to, int f, const char *p), (to, f, p), RENAMES_IN(f, p))
REPLACES(int, linkat, (int f, const char *from, int t, const char *to, int flags),
         (f, from, t, to, flags), (LOOKS_IN(f, from), RENAMES_IN(t, to)))
REPLACES(int, rename, (const char *from, const char *to), (from, to), (RENAMES(from), RENAMES(to)))
REPLACES(int, renameat, (int f, const char *from, int t, const char *to), (f, from, t, to),
         (RENAMES_IN(f, from), RENAMES_IN(t, to)))
REPLACES(int, truncate, (const char *p, off_t size), (p, size), ALTERS(p))
REPLACES(int, ftruncate, (int file, off_t size), (file, size), WRITES(file))
REPLACES(int, chmod, (const char *p, mode_t mode), (p, mode), ALTERS(p))
REPLACES(int, fchmod, (int file, mode_t mode), (file, mode), ALTERS_OPEN(file))
REPLACES(int, chown, (const char *p, uid_t user, gid_t group), (p, user, group), ALTERS(p))
REPLACES(int, fchown, (int file, uid_t user, gid_t group), (file, user, group), ALTERS_OPEN(file))
REPLACES(int, setxattr,
         (const char *p, const char *name, const void *value, size_t size, int flags),
         (p, name, value, size, flags), ALTERS(p))
REPLACES(int, removexattr, (const char *p, const char *name), (p, name), ALTERS(p))
REPLACES(ssize_t, getxattr, (const char *p, const char *name, void *value, size_t size),
         (p, name, value, size), LOOKS(p))
REPLACES(int, utimes, (const char *p, const struct timeval times[2]), (p, times), ALTERS(p))
REPLACES(int, futimens, (int file, const struct timespec times[2]), (file, times),
         ALTERS_OPEN(file))
REPLACES(int, utimensat, (int f, const char *p, const struct timespec times[2], int flags),
         (f, p, times, flags), ALTERS_IN(f, p))
REPLACES(off_t, lseek, (int file, off_t to, int from), (file, to, from), READS(file))
REPLACES(ssize_t, write, (int file, const void *from, size_t size), (file, from, size),
         WRITES(file))
REPLACES(ssize_t, readv, (int file, const struct iovec *to, int count), (file, to, count),
         READS(file))
REPLACES(ssize_t, writev, (int file, const struct iovec *from, int count), (file, from, count),
         WRITES(file))
REPLACES(ssize_t, pread, (int file, void *to, size_t size, off_t at), (file, to, size, at),
         LOOKS_AT(file))
REPLACES(ssize_t, pwrite, (int file, const void *from, size_t size, off_t at),
         (file, from, size, at), ALTERS_OPEN(file))
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
REPLACES(ssize_t, sendmsg, (int file, const struct msghdr *from, int flags), (file, from, flags),
         WRITES(file))
REPLACES(ssize_t, recvmsg, (int file, struct msghdr *to, int flags), (file, to, flags), READS(file))
REPLACES(ssize_t, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size),
         (WRITES(to), READS(from)))
REPLACES(int, setsockopt, (int file, int level, int name, const void *value, socklen_t size),
         (file, level, name, value, size), WRITES(file))
REPLACES(int, getsockopt, (int file, int level, int name, void *value, socklen_t *size),
         (file, level, name, value, size), LOOKS_AT(file))

static void wait_for(const struct pollfd *files, nfds_t count, rl_place place) {
    for (nfds_t i = 0; i < count; i++)
        if (files[i].fd >= 0) rl_use_descriptor(files[i].fd, RL_LOOKS, false, place);
}

REPLACES(int, poll, (struct pollfd * files, nfds_t count, int time), (files, count, time),
         wait_for(files, count, RL_CALLER))
REPLACES(int, ppoll,
         (struct pollfd * files, nfds_t count, const struct timespec *time, const sigset_t *mask),
         (files, count, time, mask), wait_for(files, count, RL_CALLER))

static void wait_for_sets(int count, fd_set *const sets[3], rl_place place) {
    for (int i = 0; i < 3 * count; i++)
        if (sets[i / count] && FD_ISSET(i % count, sets[i / count]))
            rl_use_descriptor(i % count, RL_LOOKS, false, place);
}

#define SETS ((fd_set *const[3]){to_read, to_write, errors})
REPLACES(int, select,
         (int count, fd_set *to_read, fd_set *to_write, fd_set *errors, struct timeval *time),
         (count, to_read, to_write, errors, time), wait_for_sets(count, SETS, RL_CALLER))
REPLACES(int, pselect,
         (int count, fd_set *to_read, fd_set *to_write, fd_set *errors, const struct timespec *time,
          const sigset_t *mask),
         (count, to_read, to_write, errors, time, mask), wait_for_sets(count, SETS, RL_CALLER))

/// What is read from this memory, or written into it, later is not seen.
static void map(int access, int flags, int file, rl_place place) {
    if (flags & MAP_ANONYMOUS) return;
    const bool writes = access & PROT_WRITE && (flags & MAP_TYPE) != MAP_PRIVATE;
    rl_use_descriptor(file, writes ? RL_CHANGES : RL_LOOKS, false, place);
}

REPLACES(void *, mmap, (void *to, size_t size, int access, int flags, int file, off_t from),
         (to, size, access, flags, file, from), map(access, flags, file, RL_CALLER))

static void control(int file, int command, rl_place place) {
    const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                       command == F_OFD_SETLKW;
    const bool sets = locks || command == F_SETFD || command == F_SETFL;
    rl_use_descriptor(file, locks ? RL_CHANGES : RL_LOOKS, sets, place);
}

#define CONTROLS(name, type, looks, result)                       \
    int name(int file, type command, ...) {                       \
        va_list rest;                                             \
        va_start(rest, command);                                  \
        void *argument = va_arg(rest, void *);                    \
        va_end(rest);                                             \
        looks;                                                    \
        int made = REAL_AT(name, #name)(file, command, argument); \
        return result;                                            \
    }
#define IS_COPY (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
CONTROLS(fcntl, int, control(file, command, RL_CALLER), IS_COPY ? rl_made_descriptor(made) : made)
CONTROLS(fcntl64, int, control(file, command, RL_CALLER), IS_COPY ? rl_made_descriptor(made) : made)
CONTROLS(ioctl, unsigned long,
         rl_use_descriptor(file, RL_LOOKS, command != FIONREAD && command != TIOCOUTQ, RL_CALLER),
         made)

REPLACES(size_t, fread, (void *to, size_t size, size_t count, FILE *s), (to, size, count, s),
         READS_FROM(s))
REPLACES(size_t, fwrite, (const void *from, size_t size, size_t count, FILE *s),
         (from, size, count, s), WRITES_TO(s))
REPLACES(char *, fgets, (char *to, int size, FILE *s), (to, size, s), READS_FROM(s))
REPLACES(int, fgetc, (FILE * s), (s), READS_FROM(s))
REPLACES(ssize_t, getline, (char **to, size_t *size, FILE *s), (to, size, s), READS_FROM(s))
// `getline`, where the compiler has inlined it; of Swift, `readLine`.
REPLACES(ssize_t, __getdelim, (char **to, size_t *size, int end, FILE *s), (to, size, end, s),
         READS_FROM(s))
REPLACES(int, fputs, (const char *text, FILE *s), (text, s), WRITES_TO(s))
REPLACES(int, fputc, (int byte, FILE *s), (byte, s), WRITES_TO(s))
REPLACES(int, vfprintf, (FILE * s, const char *format, va_list rest), (s, format, rest),
         WRITES_TO(s))
REPLACES(int, fseek, (FILE * s, long to, int from), (s, to, from), READS_FROM(s))
static bool is_for_reading(FILE *stream) {
    return (REAL(fcntl)(fileno(stream), F_GETFL) & O_ACCMODE) == O_RDONLY;
}
REPLACES(int, fclose, (FILE * s), (s),
         use_stream(s, is_for_reading(s) ? RL_LOOKS : RL_CHANGES, RL_CALLER))

REPLACES(int, chdir, (const char *p), (p), rl_use_directory(RL_CHANGES, RL_CALLER))
REPLACES(int, fchdir, (int file), (file), rl_use_directory(RL_CHANGES, RL_CALLER))
REPLACES(char *, getcwd, (char *to, size_t size), (to, size), rl_use_directory(RL_LOOKS, RL_CALLER))

REPLACES(DIR *, opendir, (const char *p), (p), rl_list(p, RL_CALLER))
REPLACES(struct dirent *, readdir, (DIR * folder), (folder), rl_list_open(dirfd(folder), RL_CALLER))

#define GLOBS(name, type)                                                                 \
    REPLACES(int, name,                                                                   \
             (const char *pattern, int flags, int (*fails)(const char *, int), type *to), \
             (pattern, flags, fails, to), rl_list_matches(pattern, RL_CALLER))
GLOBS(glob, glob_t)
GLOBS(glob64, glob64_t)

/// `FileManager` enumerates folders with this call. A folder's names are read after its return.
FTSENT *fts_read(FTS *tree) {
    FTSENT *entry = REAL(fts_read)(tree);
    if (entry && (entry->fts_info == FTS_D || entry->fts_info == FTS_NS))
        rl_list(entry->fts_accpath, RL_CALLER);
    return entry;
}

// Calls that make a file, a folder or a descriptor.

#define MAKES_PATH(name, folder, parameters, arguments)                    \
    int name parameters {                                                  \
        RENAMES_IN(folder, path);                                          \
        return rl_made_path(REAL_AT(name, #name) arguments, folder, path); \
    }
MAKES_PATH(mkdir, HERE, (const char *path, mode_t mode), (path, mode))
MAKES_PATH(mkdirat, f, (int f, const char *path, mode_t mode), (f, path, mode))
MAKES_PATH(mkfifo, HERE, (const char *path, mode_t mode), (path, mode))

static int opened(int file, bool makes) {
    return makes ? rl_made_file(file) : rl_made_descriptor(file);
}

#define OPENS(name, folder, parameters, arguments)                       \
    int name parameters {                                                \
        va_list rest;                                                    \
        va_start(rest, flags);                                           \
        const mode_t mode = va_arg(rest, mode_t);                        \
        va_end(rest);                                                    \
        const bool makes = rl_open_path(folder, path, flags, RL_CALLER); \
        return opened(REAL_AT(name, #name) arguments, makes);            \
    }
OPENS(open, HERE, (const char *path, int flags, ...), (path, flags, mode))
OPENS(open64, HERE, (const char *path, int flags, ...), (path, flags, mode))
OPENS(openat, f, (int f, const char *path, int flags, ...), (f, path, flags, mode))

#define CREATES(name)                                                              \
    int name(const char *path, mode_t mode) {                                      \
        const bool makes = rl_open_path(HERE, path, O_CREAT | O_TRUNC, RL_CALLER); \
        return opened(REAL_AT(name, #name)(path, mode), makes);                    \
    }
CREATES(creat)
CREATES(creat64)

#define OPENS_STREAM(name)                                                                   \
    FILE *name(const char *path, const char *mode) {                                         \
        const int flags = mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : O_CREAT; \
        const bool makes = rl_open_path(HERE, path, flags, RL_CALLER);                       \
        FILE *stream = REAL_AT(name, #name)(path, mode);                                     \
        if (stream) opened(fileno(stream), makes);                                           \
        return stream;                                                                       \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

#define MAKES(name, parameters, arguments) \
    int name parameters { return rl_made_descriptor(REAL_AT(name, #name) arguments); }
MAKES(dup, (int file), (file))
MAKES(socket, (int domain, int type, int protocol), (domain, type, protocol))

int mkstemp(char *path) { return rl_made_file(REAL(mkstemp)(path)); }

#define MAKES_TWO(name, parameters, arguments, files)                                \
    int name parameters {                                                            \
        const int result = REAL_AT(name, #name) arguments;                           \
        if (result == 0) rl_made_descriptor(files[0]), rl_made_descriptor(files[1]); \
        return result;                                                               \
    }
MAKES_TWO(pipe, (int files[2]), (files), files)
MAKES_TWO(pipe2, (int files[2], int flags), (files, flags), files)
MAKES_TWO(socketpair, (int domain, int type, int protocol, int files[2]),
          (domain, type, protocol, files), files)

#endif
