// The values of queues: `setSpecific` and `getSpecific`. All values with the same key count as one,
// because a queue also has those of its target.
//
// Linux only, where the program's definitions take precedence; see thread.c.

#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/guarded.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/points.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

#define FAMILY RL_QUEUES

typedef void *(*get_specific)(const void *key);
typedef void *(*get_specific_of)(dispatch_object queue, const void *key);
typedef void (*set_specific)(dispatch_object queue, const void *key, void *value, function free);
REAL(get_specific, real_get_specific, "dispatch_get_specific")
REAL(get_specific_of, real_get_specific_of, "dispatch_queue_get_specific")
REAL(set_specific, real_set_specific, "dispatch_queue_set_specific")

void dispatch_queue_set_specific(dispatch_object queue, const void *key, void *value,
                                 function free) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(&set_guarded, key, place);
    real_set_specific()(queue, key, value, free);
}

void *dispatch_queue_get_specific(dispatch_object queue, const void *key) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(&read_guarded, key, place);
    return real_get_specific_of()(queue, key);
}

/// Work for another queue may run on the main thread. The real function looks at that queue first.
void *dispatch_get_specific(const void *key) {
    IS_LISTENED_TO(place);
    if (is_listened_to) rl_point(&read_guarded, key, place);
    void *found = real_get_specific()(key);
    if (found || !rl_stands_for_main_thread()) return found;
    return real_get_specific_of()(dlsym(RTLD_DEFAULT, "_dispatch_main_q"), key);
}

#endif
