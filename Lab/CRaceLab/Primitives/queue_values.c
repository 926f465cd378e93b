// The values of queues: `setSpecific` and `getSpecific`. All values with the same key count as one,
// because a queue also has those of its target.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/guarded.h"
#include "Scheduler/points.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_QUEUES

void dispatch_queue_set_specific(dispatch_object queue, const void *key, void *value,
                                 function free) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(&set_guarded, key, place);
    REAL(dispatch_queue_set_specific)(queue, key, value, free);
}

void *dispatch_queue_get_specific(dispatch_object queue, const void *key) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(&read_guarded, key, place);
    return REAL(dispatch_queue_get_specific)(queue, key);
}

/// Work for another queue may run on the main thread. The real function looks at that queue first.
void *dispatch_get_specific(const void *key) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(&read_guarded, key, place);
    void *found = REAL(dispatch_get_specific)(key);
    if (found || !rl_stands_for_main_thread()) return found;
    return REAL(dispatch_queue_get_specific)(dlsym(RTLD_DEFAULT, "_dispatch_main_q"), key);
}

#endif
