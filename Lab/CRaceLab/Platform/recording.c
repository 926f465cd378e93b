// Records where an exploring child process crashed.

#include "Platform/recording.h"

#include "Platform/memory.h"
#include "Platform/stack_overflow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#include <execinfo.h>
#include <pthread.h>
#include <signal.h>

static const int crashes[] = RL_CRASH_SIGNALS;
#define CRASH_COUNT (sizeof crashes / sizeof *crashes)

static _Thread_local void (*way_out)(void);

void rl_leave_at_crash(void (*leave)(void)) { way_out = leave; }

/// Jumps out of the code that has crashed. The next crash is recorded again.
static void leave_code(void) {
    void (*const leave)(void) = way_out;
    way_out = NULL;
    rl_record_crashes();
    leave();
}

/// Records the crash, and then raises the signal again with its default action.
static void on_crash(int number, siginfo_t *info, void *context) {
    if (way_out) leave_code();
    rl_recorder *r = rl_recording;
    r->signal = number;
    r->overflow = (number == SIGSEGV || number == SIGBUS) && rl_is_stack_overflow(info, context);
    r->crash_pc = rl_program_counter(context);
    r->frame_count = (uint32_t)backtrace((void **)r->frames, RL_MAX_FRAMES);
    signal(number, SIG_DFL);
    raise(number);
}

// The handler needs its own stack: the thread's stack may have overflowed. It lasts as long as the
// thread: an exploration may start many thousands.
static pthread_key_t stack_of_handler;

static void discard_stack(void *memory) {
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
    rl_discard(memory);
}

static void make_key(void) { pthread_key_create(&stack_of_handler, discard_stack); }

void rl_expect_crashes(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    const size_t size = 64 * 1024;
    stack_t stack = {.ss_sp = rl_allocate(size, "a stack"), .ss_size = size};
    sigaltstack(&stack, NULL);
    pthread_setspecific(stack_of_handler, stack.ss_sp);
    sigset_t signals;
    sigemptyset(&signals);
    for (size_t i = 0; i < CRASH_COUNT; i++) sigaddset(&signals, crashes[i]);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

void rl_record_crashes(void) {
    struct sigaction action = {0};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CRASH_COUNT; i++) sigaction(crashes[i], &action, NULL);
}

#else

void rl_expect_crashes(void) {}
void rl_leave_at_crash(void (*leave)(void)) { (void)leave; }

#endif
