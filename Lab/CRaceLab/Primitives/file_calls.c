// Entry points: the calls that use files, pipes, sockets, descriptors and the current directory.

#include "Primitives/next_symbol.h"
#include "Primitives/outer_state.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>

static void use_stream(intptr_t word, rl_use contents, rl_place place) {
    FILE *stream = (FILE *)word;
    if (rl_uses_outer_state() && stream && stream != stdout && stream != stderr)
        rl_use_descriptor(fileno(stream), contents, true, place);
}

#define HERE AT_FDCWD
#define PATH(word) ((const char *)(word))
#define LOOKS_IN(folder, path) rl_use_path(folder, PATH(path), RL_LOOKS, RL_LOOKS, RL_CALLER)
#define RENAMES_IN(folder, path) rl_use_path(folder, PATH(path), RL_CHANGES, RL_LOOKS, RL_CALLER)
#define ALTERS_IN(folder, path) rl_use_path(folder, PATH(path), RL_LOOKS, RL_CHANGES, RL_CALLER)
#define LOOKS(path) LOOKS_IN(HERE, path)
#define RENAMES(path) RENAMES_IN(HERE, path)
#define ALTERS(path) ALTERS_IN(HERE, path)
#define READS(file) rl_use_descriptor(file, RL_LOOKS, true, RL_CALLER)
#define WRITES(file) rl_use_descriptor(file, RL_CHANGES, true, RL_CALLER)
#define LOOKS_AT(file) rl_use_descriptor(file, RL_LOOKS, false, RL_CALLER)
#define ALTERS_OPEN(file) rl_use_descriptor(file, RL_CHANGES, false, RL_CALLER)
#define READS_FROM(stream) use_stream(stream, RL_LOOKS, RL_CALLER)
#define WRITES_TO(stream) use_stream(stream, RL_CHANGES, RL_CALLER)

REPLACES(access, LOOKS(a))
REPLACES(faccessat, LOOKS_IN(a, b))
REPLACES(stat, LOOKS(a))
REPLACES(lstat, LOOKS(a))
REPLACES(stat64, LOOKS(a))
REPLACES(lstat64, LOOKS(a))
REPLACES(fstatat, LOOKS_IN(a, b))
REPLACES(fstat, (LOOKS_AT(a), rl_count_links(a, RL_CALLER)))
REPLACES(realpath, LOOKS(a))
REPLACES(readlink, LOOKS(a))
REPLACES(readlinkat, LOOKS_IN(a, b))
REPLACES(rmdir, RENAMES(a))
REPLACES(unlink, RENAMES(a))
REPLACES(unlinkat, RENAMES_IN(a, b))
REPLACES(remove, RENAMES(a))
REPLACES(symlink, RENAMES(b))
REPLACES(link, (LOOKS(a), RENAMES(b)))
REPLACES(symlinkat, RENAMES_IN(b, c))
REPLACES(linkat, (LOOKS_IN(a, b), RENAMES_IN(c, d)))
REPLACES(rename, (RENAMES(a), RENAMES(b)))
REPLACES(renameat, (RENAMES_IN(a, b), RENAMES_IN(c, d)))
REPLACES(truncate, ALTERS(a))
REPLACES(ftruncate, WRITES(a))
REPLACES(chmod, ALTERS(a))
REPLACES(fchmod, ALTERS_OPEN(a))
REPLACES(chown, ALTERS(a))
REPLACES(fchown, ALTERS_OPEN(a))
REPLACES(setxattr, ALTERS(a))
REPLACES(removexattr, ALTERS(a))
REPLACES(getxattr, LOOKS(a))
REPLACES(utimes, ALTERS(a))
REPLACES(futimens, ALTERS_OPEN(a))
REPLACES(utimensat, ALTERS_IN(a, b))
REPLACES(lseek, READS(a))
REPLACES(write, WRITES(a))
REPLACES(readv, READS(a))
REPLACES(writev, WRITES(a))
REPLACES(pread, LOOKS_AT(a))
REPLACES(pwrite, ALTERS_OPEN(a))
REPLACES(flock, WRITES(a))
REPLACES(lockf, WRITES(a))
REPLACES(close, READS(a))
REPLACES(dup2, READS(b))
REPLACES(eventfd_read, READS(a))
REPLACES(eventfd_write, WRITES(a))
REPLACES(send, WRITES(a))
REPLACES(recv, READS(a))
REPLACES(sendto, WRITES(a))
REPLACES(recvfrom, READS(a))
REPLACES(bind, WRITES(a))
REPLACES(listen, WRITES(a))
REPLACES(connect, WRITES(a))
REPLACES(accept, READS(a))
REPLACES(shutdown, WRITES(a))
REPLACES(sendmsg, WRITES(a))
REPLACES(recvmsg, READS(a))
REPLACES(sendfile, (WRITES(a), READS(b)))
REPLACES(setsockopt, WRITES(a))
REPLACES(getsockopt, LOOKS_AT(a))

static void wait_for(intptr_t word, nfds_t count, rl_place place) {
    const struct pollfd *files = (const struct pollfd *)word;
    for (nfds_t i = 0; i < count; i++)
        if (files[i].fd >= 0) rl_use_descriptor(files[i].fd, RL_LOOKS, false, place);
}

REPLACES(poll, wait_for(a, b, RL_CALLER))
REPLACES(ppoll, wait_for(a, b, RL_CALLER))

static void wait_for_sets(int count, fd_set *const sets[3], rl_place place) {
    for (int i = 0; i < 3 * count; i++)
        if (sets[i / count] && FD_ISSET(i % count, sets[i / count]))
            rl_use_descriptor(i % count, RL_LOOKS, false, place);
}

#define SETS ((fd_set *const[3]){(fd_set *)b, (fd_set *)c, (fd_set *)d})
REPLACES(select, wait_for_sets(a, SETS, RL_CALLER))
REPLACES(pselect, wait_for_sets(a, SETS, RL_CALLER))

/// What is read from this memory, or written into it, later is not seen.
static void map(int access, int flags, int file, rl_place place) {
    if (flags & MAP_ANONYMOUS) return;
    const bool writes = access & PROT_WRITE && (flags & MAP_TYPE) != MAP_PRIVATE;
    rl_use_descriptor(file, writes ? RL_CHANGES : RL_LOOKS, false, place);
}

REPLACES(mmap, map(c, d, e, RL_CALLER))

static void control(int file, int command, rl_place place) {
    const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
                       command == F_OFD_SETLKW;
    const bool sets = locks || command == F_SETFD || command == F_SETFL;
    rl_use_descriptor(file, locks ? RL_CHANGES : RL_LOOKS, sets, place);
}

#define COPIES(name)                                                         \
    ENTRY_POINT(name) {                                                      \
        control(a, b, RL_CALLER);                                            \
        const int made = (int)PASS_ON(name);                                 \
        const bool is_copy = (int)b == F_DUPFD || (int)b == F_DUPFD_CLOEXEC; \
        return is_copy ? rl_made_descriptor(made) : made;                    \
    }
COPIES(fcntl)
COPIES(fcntl64)
REPLACES(ioctl, rl_use_descriptor(a, RL_LOOKS, b != FIONREAD && b != TIOCOUTQ, RL_CALLER))

REPLACES(fread, READS_FROM(d))
REPLACES(fwrite, WRITES_TO(d))
REPLACES(fgets, READS_FROM(c))
REPLACES(fgetc, READS_FROM(a))
REPLACES(getline, READS_FROM(c))
// `getline`, where the compiler has inlined it; of Swift, `readLine`.
REPLACES(__getdelim, READS_FROM(d))
REPLACES(fputs, WRITES_TO(b))
REPLACES(fputc, WRITES_TO(b))
REPLACES(vfprintf, WRITES_TO(a))
REPLACES(fseek, READS_FROM(a))
static bool is_for_reading(intptr_t stream) {
    return (REAL(fcntl)(fileno((FILE *)stream), F_GETFL) & O_ACCMODE) == O_RDONLY;
}
REPLACES(fclose, use_stream(a, is_for_reading(a) ? RL_LOOKS : RL_CHANGES, RL_CALLER))

REPLACES(chdir, rl_use_directory(RL_CHANGES, RL_CALLER))
REPLACES(fchdir, rl_use_directory(RL_CHANGES, RL_CALLER))
REPLACES(getcwd, rl_use_directory(RL_LOOKS, RL_CALLER))

REPLACES(opendir, rl_list(PATH(a), RL_CALLER))
REPLACES(readdir, rl_list_open(dirfd((DIR *)a), RL_CALLER))

REPLACES(glob, rl_list_matches(PATH(a), RL_CALLER))
REPLACES(glob64, rl_list_matches(PATH(a), RL_CALLER))

/// `FileManager` enumerates folders with this call. A folder's names are read after its return.
FTSENT *fts_read(FTS *tree) {
    FTSENT *entry = REAL(fts_read)(tree);
    if (entry && (entry->fts_info == FTS_D || entry->fts_info == FTS_NS))
        rl_list(entry->fts_accpath, RL_CALLER);
    return entry;
}

// Calls that make a file, a folder or a descriptor.

#define MAKES_PATH(name, folder, path)                                      \
    ENTRY_POINT(name) {                                                     \
        RENAMES_IN(folder, path);                                           \
        return rl_made_path((int)PASS_ON(name), (int)(folder), PATH(path)); \
    }
MAKES_PATH(mkdir, HERE, a)
MAKES_PATH(mkdirat, a, b)
MAKES_PATH(mkfifo, HERE, a)

static int opened(int file, bool makes) {
    return makes ? rl_made_file(file) : rl_made_descriptor(file);
}

#define OPENS(name, folder, path, flags)                                              \
    ENTRY_POINT(name) {                                                               \
        const bool makes = rl_open_path((int)(folder), PATH(path), flags, RL_CALLER); \
        return opened((int)PASS_ON(name), makes);                                     \
    }
OPENS(open, HERE, a, b)
OPENS(open64, HERE, a, b)
OPENS(openat, a, b, c)
OPENS(creat, HERE, a, O_CREAT | O_TRUNC)
OPENS(creat64, HERE, a, O_CREAT | O_TRUNC)

static int flags_of(const char *mode) {
    return mode[0] == 'r' ? 0 : mode[0] == 'w' ? O_CREAT | O_TRUNC : O_CREAT;
}

#define OPENS_STREAM(name)                                                \
    ENTRY_POINT(name) {                                                   \
        const int flags = flags_of((const char *)b);                      \
        const bool makes = rl_open_path(HERE, PATH(a), flags, RL_CALLER); \
        const intptr_t stream = PASS_ON(name);                            \
        if (stream) opened(fileno((FILE *)stream), makes);                \
        return stream;                                                    \
    }
OPENS_STREAM(fopen)
OPENS_STREAM(fopen64)

ENTRY_POINT(dup) { return rl_made_descriptor((int)PASS_ON(dup)); }
ENTRY_POINT(socket) { return rl_made_descriptor((int)PASS_ON(socket)); }
ENTRY_POINT(mkstemp) { return rl_made_file((int)PASS_ON(mkstemp)); }

#define MAKES_TWO(name, word)                                                        \
    ENTRY_POINT(name) {                                                              \
        const int result = (int)PASS_ON(name);                                       \
        const int *files = (const int *)(word);                                      \
        if (result == 0) rl_made_descriptor(files[0]), rl_made_descriptor(files[1]); \
        return result;                                                               \
    }
MAKES_TWO(pipe, a)
MAKES_TWO(pipe2, a)
MAKES_TWO(socketpair, d)

#endif
