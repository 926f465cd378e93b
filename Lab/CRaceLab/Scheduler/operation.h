// What the scheduler needs to know about primitives. It names none of them: an entry point passes a
// table of functions to its step, and registers another one for its work between the runs.

#pragma once

#include "State/state.h"

/// A kind of step of one primitive. The functions are called with the thread that has announced the
/// step. Those that are NULL have the effect that their comment names.
struct rl_operation {
    rl_kind kind;
    bool has_record;       // what it waits for is recorded at its address, see `lock`
    bool is_attempt;       // it fails instead of waiting …
    bool could_be_early;   // … also right before another thread's release, see deferred_release.c
    bool is_idle;          // it waits for work, and ends when no other thread can send any
    bool completes_later;  // its effect is known only after the thread has made it
    bool is_atomic;        // it accesses an atomic variable whose stores are kept …
    bool chooses_value;    // … and can read an old value

    /// Whether the step can succeed now. NULL: always.
    bool (*is_available)(const thread *t);
    /// Whether the thread has got what else it needs, such as a signal. NULL: always.
    bool (*is_woken)(const thread *t);
    /// What the step of the calling thread changes in the model. NULL: nothing.
    void (*carry_out)(thread *t);

    /// The thread that the step waits for, or NO_THREAD; sets where that one took it. NULL: none.
    int (*holder)(const thread *t, uintptr_t *pc);
    /// Whether it waits for work that was sent to a queue earlier. NULL: no.
    bool (*is_in_line)(const thread *t);
    /// The label of the queue that it takes. NULL: it takes none.
    const char *(*queue)(const thread *t);
    /// Why a thread outside of the scenario might help, if what it waits for was made there. NULL:
    /// no such thread could.
    const char *help_from_outside;
};

/// What a primitive does beside the steps of the threads. A function may be NULL.
typedef struct rl_service {
    void (*code_has_ended)(void);  // the set-up, or the judging of a run
    void (*threads_begin)(void);   // after the set-up
    void (*threads_have_ended)(bool is_complete);
    void (*run_is_over)(void);  // after the judging
    const struct rl_service *next;
} rl_service;

/// The services of all primitives, a list. Complete before the program begins.
extern const rl_service *rl_services;

/// Registers the service of a file.
#define RL_SERVICE(...)                                          \
    static rl_service service = {__VA_ARGS__};                   \
    __attribute__((constructor)) static void add_service(void) { \
        service.next = rl_services;                              \
        rl_services = &service;                                  \
    }
