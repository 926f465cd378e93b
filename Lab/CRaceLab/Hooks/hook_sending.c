// The entry points of Dispatch for sending work to a queue with `async`.
//
// Linux only, where the program's definitions take precedence; see hook_threads.c.

#include "Hooks/dispatch.h"
#include "Hooks/tasks.h"
#include "Scheduler/between_runs.h"
#include "State/state.h"
#include "Symbols/call_sites.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

REAL(block_on, real_async, "dispatch_async")
REAL(block_on, real_barrier_async, "dispatch_barrier_async")
REAL(call_on, real_async_f, "dispatch_async_f")
REAL(call_on, real_barrier_async_f, "dispatch_barrier_async_f")

typedef void (*after)(uint64_t when, dispatch_object queue, void *work);
typedef void (*after_f)(uint64_t when, dispatch_object queue, void *context, function work);
REAL(after, real_after, "dispatch_after")
REAL(after_f, real_after_f, "dispatch_after_f")

void rl_finish_work_between_runs(void) {
    RL_REQUIRE(rl_is_between_runs_here(), "a run goes on");
    rl_forget_lanes();
    rl_forget_notifications();
    while (rl_do_waiting_work()) {}
}

void dispatch_after(uint64_t when, dispatch_object queue, void *work) {
    const rl_place caller = RL_CALLER;
    rl_place place = caller;
    if (!rl_is_sending(&place)) return real_after()(when, queue, work);
    rl_send_item_later(when, rl_make_block_item(queue, work, false, place, caller), place);
}

void dispatch_after_f(uint64_t when, dispatch_object queue, void *context, function work) {
    if (rl_is_of_runtime(work) && rl_delayed_job_passes(when, context, work)) return;
    rl_place place = RL_CALLER;
    if (!rl_is_sending(&place)) return real_after_f()(when, queue, context, work);
    rl_send_item_later(when, rl_make_item(queue, (call){work, context}, place), place);
}

// Both return false if the real function must send the work.

static bool has_sent_block(dispatch_object queue, void *work, bool barrier, rl_place caller) {
    rl_place place = caller;
    if (!rl_is_sending(&place)) return false;
    rl_send_item(rl_make_block_item(queue, work, barrier, place, caller), place);
    return true;
}

static bool has_sent(dispatch_object queue, call c, bool barrier, rl_place caller) {
    rl_place place = caller;
    if (!rl_is_sending(&place)) return false;
    item *i = rl_make_item(queue, c, place);
    i->barrier = barrier;
    rl_send_item(i, place);
    return true;
}

void dispatch_async(dispatch_object queue, void *work) {
    if (!has_sent_block(queue, work, false, RL_CALLER)) real_async()(queue, work);
}

void dispatch_barrier_async(dispatch_object queue, void *work) {
    if (!has_sent_block(queue, work, true, RL_CALLER)) real_barrier_async()(queue, work);
}

void dispatch_async_f(dispatch_object queue, void *context, function work) {
    if (rl_is_of_runtime(work) && rl_job_passes(queue, context, work, RL_CALLER)) return;
    if (!has_sent(queue, (call){work, context}, false, RL_CALLER))
        real_async_f()(queue, context, work);
}

void dispatch_barrier_async_f(dispatch_object queue, void *context, function work) {
    if (!has_sent(queue, (call){work, context}, true, RL_CALLER))
        real_barrier_async_f()(queue, context, work);
}

#endif
