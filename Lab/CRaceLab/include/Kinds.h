// The kinds of steps: one table, from which the enumerations and the words for a kind are made.

#pragma once

#include <stdbool.h>
#include <stdint.h>

/// A row for each kind: its name; what a step of this kind does; its word in JSON; and a phrase for
/// a step whose source is unknown.
///
/// READS: it changes nothing that another thread can observe. LASTING: it is progress, so that the
/// thread cannot be spinning. Taking and releasing a lock is not progress, nor is a failed attempt.
///
/// The rows from RL_ARRIVE on are about tasks; see `rl_is_about_tasks`.
#define RL_KINDS(KIND)                                                            \
    KIND(RL_READ, READS, "read", "reads")                                         \
    KIND(RL_MODIFY, LASTING, "modify", "modifies")                                \
    KIND(RL_LOCK, OTHER, "lock", "locks")                                         \
    KIND(RL_TRY_LOCK, OTHER, "tryLock", "tries to lock")                          \
    KIND(RL_ATOMIC_READ, READS, "atomicRead", "reads an atomic")                  \
    KIND(RL_ATOMIC_WRITE, LASTING, "atomicWrite", "writes an atomic")             \
    KIND(RL_EXCHANGE, OTHER, "exchange", "compares and exchanges")                \
    KIND(RL_NOTE, LASTING, "note", "notes")                                       \
    KIND(RL_SHARED_LOCK, OTHER, "sharedLock", "locks for reading")                \
    KIND(RL_TRY_SHARED_LOCK, OTHER, "trySharedLock", "tries to lock for reading") \
    KIND(RL_WAIT, OTHER, "wait", "waits to be woken")                             \
    KIND(RL_WAKE, OTHER, "wake", "wakes a waiting thread")                        \
    KIND(RL_ACQUIRE, LASTING, "acquire", "takes from a semaphore")                \
    KIND(RL_TRY_ACQUIRE, LASTING, "tryAcquire", "tries to take from a semaphore") \
    KIND(RL_SIGNAL, LASTING, "signal", "signals a semaphore")                     \
    KIND(RL_START, LASTING, "start", "starts a thread")                           \
    KIND(RL_BEGIN, LASTING, "begin", "begins")                                    \
    KIND(RL_JOIN, OTHER, "join", "waits for the end of a thread")                 \
    KIND(RL_SEND, LASTING, "send", "sends work to a queue")                       \
    KIND(RL_RECEIVE, LASTING, "receive", "takes the work")                        \
    KIND(RL_QUEUE_UP, OTHER, "queueUp", "queues up")                              \
    KIND(RL_SHARED_QUEUE_UP, READS, "sharedQueueUp", "queues up")                 \
    KIND(RL_ENTER, LASTING, "enter", "enters a group")                            \
    KIND(RL_LEAVE, LASTING, "leave", "leaves a group")                            \
    KIND(RL_AWAIT, READS, "await", "waits for work to finish")                    \
    KIND(RL_TRY_AWAIT, READS, "tryAwait", "checks whether work has finished")     \
    KIND(RL_NOTIFY, LASTING, "notify", "registers work to follow")                \
    KIND(RL_LET_GO, OTHER, "letGo", "releases an object")                         \
    KIND(RL_ARRIVE, LASTING, "arrive", "arrives at an actor")                     \
    KIND(RL_RESUME, LASTING, "resume", "resumes a task")                          \
    KIND(RL_FINISH, LASTING, "finish", "ends")                                    \
    KIND(RL_CANCEL, LASTING, "cancel", "cancels a task")                          \
    KIND(RL_ASK, READS, "ask", "asks whether it is cancelled")                    \
    KIND(RL_YIELD, OTHER, "yield", "yields")                                      \
    KIND(RL_ELAPSE, LASTING, "elapse", "wakes up")

/// What a thread is about to do at a point. At a point another thread may run first.
typedef enum {
#define KIND(name, does, word, phrase) name,
    RL_KINDS(KIND)
#undef KIND
        RL_SUSPENDED,  // not a step: a task waits to be resumed …
    RL_NEXT,           // … with the next element of a stream
} rl_kind;

typedef struct {
    enum { RL_OTHER, RL_READS, RL_LASTING } does;
    const char *word, *phrase;
} rl_kind_row;

/// The row of a kind; NULL if no step is of that kind.
static inline const rl_kind_row *rl_row_of_kind(uint8_t kind) {
    static const rl_kind_row rows[] = {
#define KIND(name, does, word, phrase) {RL_##does, word, phrase},
        RL_KINDS(KIND)
#undef KIND
    };
    return kind < sizeof rows / sizeof rows[0] ? &rows[kind] : NULL;
}
