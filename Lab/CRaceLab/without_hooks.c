// The functions of the scheduler and the primitives that the Swift half calls, in a build without
// hooks.

#include "Platform/build.h"

#ifdef RL_WITHOUT_HOOKS

rl_summary rl_explore(const rl_scenario *scenario) {
    (void)scenario;
    return (rl_summary){0};
}

void rl_hold_explorations(void) {}
void rl_release_explorations(void) {}
uint32_t rl_note(const void *place) {
    (void)place;
    return UINT32_MAX;
}
bool rl_noted_under_lock(void) { return false; }
void rl_send(const void *queue, const void *item) { (void)queue, (void)item; }
bool rl_await(const void *queue) {
    (void)queue;
    return false;
}
void rl_wait_for_looks(int count) { (void)count; }
const char *rl_find_out_about_tasks(void (*begin_task)(void), void (*hop)(void),
                                    void (*use_stream)(void)) {
    return (void)begin_task, (void)hop, (void)use_stream, "this build runs under ThreadSanitizer";
}
void rl_becomes_task(void) {}
uint32_t rl_steps_learned(void) { return 0; }
void rl_distrust_counts(bool does) { (void)does; }
void rl_is_blind_to(rl_family family, const char *name) { (void)family, (void)name; }
void rl_disable_family(rl_family family, rl_fault_of_family fault) { (void)family, (void)fault; }
uint64_t rl_heard(void) { return 0; }

const char *rl_unavailable(void) {
#if defined(RL_UNDER_THREAD_SANITIZER)
    return "this build runs under ThreadSanitizer, which defines the functions that the lab would "
           "define: build without --sanitize=thread";
#else
    return "the lab needs a debug build";
#endif
}

#endif
