// Cancelling tasks, and checking for cancellation.
//
// Some cancellations have no call of their own in the program: a scope that is left cancels the
// tasks of its `async let`s, and a group whose body throws cancels its tasks. The lab intercepts
// the end of the scope and the `throw`. The runtime then cancels the tasks itself, as it does when
// an error of a task passes through the body of a group; the lab checks for that after each step.

#include "Platform/memory.h"
#include "Platform/stack.h"
#include "Primitives/next_symbol.h"
#include "Primitives/task.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

static void cancels_or_asks(const rl_operation *operation, rl_place place) {
    if (rl_active && rl_is_by_program(NO_FAMILY, place))
        rl_cancels_or_asks(operation, rl_place_in_source(place));
}

static void cancels_or_asks_task(const rl_operation *operation, const void *task, rl_place place) {
    if (rl_active && rl_is_by_program(NO_FAMILY, place))
        rl_cancels_or_asks_task(operation, task, rl_place_in_source(place));
}

static void may_cancel_children(rl_place place) {
    if (rl_active && rl_is_by_program(NO_FAMILY, place) && rl_has_children())
        rl_cancels_or_asks(&rl_cancel_task, rl_place_in_source(place));
}

// MARK: - Methods

/// The methods that cancel or check for cancellation: those of a task, which is their first argument
/// or what `self` points to; and those of a group of the current task, or of that task itself.
#define METHODS(OF_TASK, OWN)                                                            \
    OF_TASK(cancel_task, first, cancel, "$sScT6cancelyyF")                               \
    OF_TASK(cancel_task, *self, cancel_current, "$sSct6cancelyyF")                       \
    OWN(cancel_task, cancel_group, "$sScG9cancelAllyyF")                                 \
    OWN(cancel_task, cancel_throwing, "$sScg9cancelAllyyF")                              \
    OWN(cancel_task, cancel_discarding, "$ss19DiscardingTaskGroupV9cancelAllyyF")        \
    OWN(cancel_task, cancel_both, "$ss27ThrowingDiscardingTaskGroupV9cancelAllyyF")      \
    OWN(ask_task, is_cancelled_here, "$sScTss5NeverORszABRs_rlE11isCancelledSbvgZ")      \
    OF_TASK(ask_task, *self, is_current_cancelled, "$sSct11isCancelledSbvg")             \
    OF_TASK(ask_task, first, is_task_cancelled, "swift_task_isCancelled")                \
    OWN(ask_task, is_group_cancelled, "$sScG11isCancelledSbvg")                          \
    OWN(ask_task, is_throwing_cancelled, "$sScg11isCancelledSbvg")                       \
    OWN(ask_task, is_discarding_cancelled, "$ss19DiscardingTaskGroupV11isCancelledSbvg") \
    OWN(ask_task, is_both_cancelled, "$ss27ThrowingDiscardingTaskGroupV11isCancelledSbvg")

/// Defines such a method, whatever its parameters are.
#define DEFINE(name, symbol, before_call)                                                    \
    NAMED(symbol, SWIFT_FUNCTION uintptr_t rl_##name(void *first, void *b, void *c, void *d, \
                                                     SWIFT_SELF void **self)) {              \
        before_call;                                                                         \
        return REAL_AT(rl_##name, symbol)(first, b, c, d, self);                             \
    }
#define DEFINE_OWN(operation, name, symbol) \
    DEFINE(name, symbol, cancels_or_asks(&rl_##operation, RL_CALLER))
#define DEFINE_OF_TASK(operation, task, name, symbol) \
    DEFINE(name, symbol, cancels_or_asks_task(&rl_##operation, task, RL_CALLER))

METHODS(DEFINE_OF_TASK, DEFINE_OWN)

#define CHECK_CANCELLATION "$sScTss5NeverORszABRs_rlE17checkCancellationyyKFZ"

NAMED(CHECK_CANCELLATION,
      SWIFT_FUNCTION void rl_check(SWIFT_SELF void *self, SWIFT_ERROR void **error)) {
    cancels_or_asks(&rl_ask_task, RL_CALLER);
    REAL_AT(rl_check, CHECK_CANCELLATION)(self, error);
}

/// The first half of `addTaskUnlessCancelled`.
SWIFT_FUNCTION bool swift_taskGroup_addPending(void *group, bool unconditionally) {
    if (!unconditionally) cancels_or_asks(&rl_ask_task, RL_CALLER);
    return REAL(swift_taskGroup_addPending)(group, unconditionally);
}

// MARK: - Handlers

// Registering a handler checks for cancellation: the handler of a task that has been cancelled runs
// at once. Removing it checks again: until then, the handler can run although the operation has
// ended. The library registers, awaits the operation and removes, all without calls that the lab
// could intercept, so the lab passes the library an operation of its own around the program's.

/// A pointer to an asynchronous function, as the compiler emits it: the distance to its code, and
/// the size of its context.
typedef struct {
    int32_t distance;
    uint32_t size;
} async_pointer;

/// The beginning of each asynchronous context.
typedef struct context {
    struct context *parent;
    ASYNC_FUNCTION void (*resume)(ASYNC_CONTEXT struct context *, SWIFT_SELF void *error);
} context;

/// A closure that the program passes as the operation of a handler.
typedef struct {
    const async_pointer *function;
    void *captured;
    uintptr_t pc;  // the place that awaits it
} operation;

/// The context of the lab's own operation.
typedef struct {
    context head;
    uintptr_t pc;
} operation_context;

typedef ASYNC_FUNCTION void (*operation_code)(void *result, ASYNC_CONTEXT context *,
                                              SWIFT_SELF void *captured);

extern SWIFT_FUNCTION void *swift_task_alloc(size_t size);
extern SWIFT_FUNCTION void swift_task_dealloc(void *memory);

static __attribute__((noinline)) operation_context *end_operation(context *of_program) {
    operation_context *own = (operation_context *)of_program->parent;
    REAL(swift_task_dealloc)(of_program);
    if (rl_active) rl_cancels_or_asks(&rl_ask_task, (rl_place){own->pc, 0});
    return own;
}

static ASYNC_FUNCTION void operation_ended(ASYNC_CONTEXT context *of_program,
                                           SWIFT_SELF void *error) {
    operation_context *own = end_operation(of_program);
    __attribute__((musttail)) return own->head.resume(&own->head, error);
}

static __attribute__((noinline)) operation begin_operation(operation *passed, context *own) {
    const operation o = *passed;
    rl_discard(passed);
    if (rl_active) my_thread()->is_registering = false;
    ((operation_context *)own)->pc = o.pc;
    return o;
}

static __attribute__((noinline)) context *context_for(operation o, context *own) {
    context *of_program = REAL(swift_task_alloc)(o.function->size);
    *of_program = (context){own, operation_ended};
    return of_program;
}

static ASYNC_FUNCTION void run_operation(void *result, ASYNC_CONTEXT context *own,
                                         SWIFT_SELF void *passed) {
    const operation o = begin_operation(passed, own);
    context *of_program = context_for(o, own);
    const operation_code code =
        (operation_code)((const char *)&o.function->distance + o.function->distance);
    __attribute__((musttail)) return code(result, of_program, o.captured);
}

static const async_pointer *pointer_to_run_operation(void) {
    static async_pointer pointer;
    pointer =
        (async_pointer){(int32_t)((const char *)run_operation - (const char *)&pointer.distance),
                        sizeof(operation_context)};
    return &pointer;
}

#define WITH_HANDLER \
    "$ss27withTaskCancellationHandler9operation8onCancel9isolationxxyYaKXE_yyYbXEScA_pSgYitYaKlF"

/// The parameters: where the result goes, two closures, the isolation, and the type of the result.

/// Returns the operation to pass to the library.
static __attribute__((noinline)) operation before_registration(const context *c, operation o) {
    const rl_place place = {(uintptr_t)c->resume + 1, 0};
    if (!rl_is_by_program(NO_FAMILY, place)) return o;
    rl_cancels_or_asks(&rl_ask_task, place);
    my_thread()->is_registering = true;
    o.pc = place.pc;
    operation *passed = rl_allocate(sizeof *passed, "an operation");
    *passed = o;
    return (operation){pointer_to_run_operation(), passed, 0};
}

NAMED(WITH_HANDLER, ASYNC_FUNCTION void rl_with_handler(ASYNC_CONTEXT context *c, void *result,
                                                        const void *function, void *captured,
                                                        void *handler, void *captured_by_handler,
                                                        void *actor, void *executor, void *type)) {
    operation o = {function, captured, 0};
    if (rl_active) o = before_registration(c, o);
    __attribute__((musttail)) return REAL_AT(rl_with_handler, WITH_HANDLER)(
        c, result, o.function, o.captured, handler, captured_by_handler, actor, executor, type);
}

// MARK: - Without a call

static __attribute__((noinline)) void before_finish(uintptr_t resume) {
    const rl_place place = {resume + 1, 0};
    if (rl_is_by_program(NO_FAMILY, place) && rl_has_children())
        rl_cancels_or_asks(&rl_cancel_task, place);
}

ASYNC_FUNCTION void swift_asyncLet_finish(ASYNC_CONTEXT void *caller, void *let, void *result,
                                          void *resume, void *context) {
    if (rl_active) before_finish((uintptr_t)resume);
    __attribute__((musttail)) return REAL(swift_asyncLet_finish)(caller, let, result, resume,
                                                                 context);
}

// A test library receives each error that is thrown. What it does with it is no business of the
// scenario: a test explores the same interleavings as a process without such a library.

static void end_report(void) {
    rl_attend();
    if (rl_active) rl_clean_stack();
}

// The error is in a register, where it stays.
SWIFT_FUNCTION void swift_willThrow(SWIFT_SELF void *self) {
    may_cancel_children(RL_CALLER);
    rl_ignore();
    REAL(swift_willThrow)(self);
    end_report();
}

SWIFT_FUNCTION void swift_willThrowTypedImpl(void *value, void *type, void *conformance) {
    may_cancel_children(RL_CALLER);
    rl_ignore();
    REAL(swift_willThrowTypedImpl)(value, type, conformance);
    end_report();
}

// MARK: - For the self-test

#define SYMBOL_OF_TASK(operation, task, name, symbol) symbol,
#define SYMBOL_OWN(operation, name, symbol) symbol,

const char *const rl_symbols_of_cancellation[] = {METHODS(SYMBOL_OF_TASK, SYMBOL_OWN)
                                                      CHECK_CANCELLATION,
                                                  WITH_HANDLER,
                                                  "swift_taskGroup_addPending",
                                                  "swift_asyncLet_finish",
                                                  "swift_willThrow",
                                                  "swift_willThrowTypedImpl",
                                                  NULL};

#endif
