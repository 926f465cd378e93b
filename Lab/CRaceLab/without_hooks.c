// The functions of the primitives that the Swift half calls, in a build without hooks.

#include "Platform/build.h"

#ifdef RL_WITHOUT_HOOKS

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

#endif
