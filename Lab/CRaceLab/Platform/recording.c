// Records where an exploring child process crashed, and distinguishes a stack overflow from other
// crashes.

#include "Platform/recording.h"

#include "Platform/memory.h"

#include <execinfo.h>
#include <pthread.h>
#include <string.h>
#include <sys/ucontext.h>
#include <unistd.h>

// MARK: - Crashes

uintptr_t rl_program_counter(const void *machine) {
    const ucontext_t *context = machine;
#if defined(__linux__) && defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__) && defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;  // only used on Linux
#endif
}

static uintptr_t stack_pointer(const ucontext_t *context) {
#if defined(__linux__) && defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__linux__) && defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.sp;
#elif defined(__APPLE__) && defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext->__ss.__rsp;
#elif defined(__APPLE__) && defined(__aarch64__)
    return (uintptr_t)__darwin_arm_thread_state64_get_sp(context->uc_mcontext->__ss);
#else
#error "tell here where this machine keeps its stack pointer"
#endif
}

/// A fault is a stack overflow if the inaccessible address is near the stack pointer.
bool rl_is_stack_overflow(const siginfo_t *info, const void *context) {
    if (info->si_signo != SIGSEGV && info->si_signo != SIGBUS) return false;
    uintptr_t address = (uintptr_t)info->si_addr;
    uintptr_t top = stack_pointer(context);
    uintptr_t distance = address > top ? address - top : top - address;
    return distance < 64 * 1024;
}

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
    r->overflow = rl_is_stack_overflow(info, context);
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
    for (size_t i = 0; i < RL_CRASH_COUNT; i++) sigaddset(&signals, rl_crashes[i]);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

void rl_record_crashes(void) {
    struct sigaction action = {0};
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < RL_CRASH_COUNT; i++) sigaction(rl_crashes[i], &action, NULL);
}

// MARK: - Stack overflows

static int overflow_status;
static const char *overflow_message;

#if defined(__linux__)

#include <sys/syscall.h>

// Calls the kernel directly. ThreadSanitizer replaces the library functions with its own, which
// take its locks, and the fault may have happened while one of them is held.

_Noreturn static void report_overflow(void) {
    syscall(SYS_write, STDERR_FILENO, overflow_message, strlen(overflow_message));
    for (;;) syscall(SYS_exit_group, overflow_status);
}

#else

_Noreturn static void report_overflow(void) {
    ssize_t written = write(STDERR_FILENO, overflow_message, strlen(overflow_message));
    (void)written;
    _exit(overflow_status);
}

#endif

/// Any other bad access comes again: an instruction that has failed fails again. The handler is reset
/// when it runs, so the default action follows.
static void on_fault(int number, siginfo_t *info, void *context) {
    if (rl_is_stack_overflow(info, context)) report_overflow();
    if (info->si_code <= 0) raise(number);
}

void rl_report_stack_overflow(int status, const char *message) {
    // The handler needs its own stack: the thread's stack has overflowed.
    static char handler_stack[64 * 1024];
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    sigaltstack(&stack, NULL);
    overflow_status = status;
    overflow_message = strdup(message);
    struct sigaction action = {0};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}
