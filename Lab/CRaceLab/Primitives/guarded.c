// Variables that a library guards with a lock of its own, which makes no calls: the values of queues,
// and what `NotificationCenter` knows of its observers.

#include "Model/happens_before.h"
#include "Primitives/dispatch.h"
#include "Primitives/families.h"
#include "Primitives/points.h"
#include "State/shadow.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

/// What a thread did before it changed the variable comes before what follows a look at it. Two
/// threads that only look are not ordered.
static void look_at_guarded(thread *t) {
    rl_join_clock(&t->clock, &rl_lock_at(t->address)->released);
}

static void change_guarded(thread *t) {
    look_at_guarded(t);
    rl_join_clock(&rl_lock_at(t->address)->released, &t->clock);
    rl_tick(me->thread);
}

static const rl_operation read_guarded = {.kind = RL_ATOMIC_READ, .carry_out = look_at_guarded};
static const rl_operation set_guarded = {.kind = RL_ATOMIC_WRITE, .carry_out = change_guarded};

// MARK: - The values of queues

#define FAMILY RL_QUEUES

// All values with the same key count as one, because a queue also has those of its target.

void dispatch_queue_set_specific(dispatch_object queue, const void *key, void *value,
                                 function free) {
    CALLED_AT(place, now);
    if (now == BY_PROGRAM) rl_point(&set_guarded, key, place);
    REAL(dispatch_queue_set_specific)(queue, key, value, free);
}

void *dispatch_queue_get_specific(dispatch_object queue, const void *key) {
    CALLED_AT(place, now);
    if (now == BY_PROGRAM) rl_point(&read_guarded, key, place);
    return REAL(dispatch_queue_get_specific)(queue, key);
}

/// Work for another queue may run on the main thread. The real function looks at that queue first.
void *dispatch_get_specific(const void *key) {
    CALLED_AT(place, now);
    if (now == BY_PROGRAM) rl_point(&read_guarded, key, place);
    void *found = REAL(dispatch_get_specific)(key);
    if (found || !rl_stands_for_main_thread()) return found;
    return REAL(dispatch_queue_get_specific)(dlsym(RTLD_DEFAULT, "_dispatch_main_q"), key);
}

// MARK: - Notifications

// `post` reads what the center knows before it calls the observers. An older Foundation has none of
// these functions, and a lock that does make calls, see mutex.c.

#undef FAMILY
#define FAMILY RL_LOCKS

/// No function has more arguments, nor a larger result.
typedef struct {
    void *first, *second;
} pair;

#define CENTER "$s20FoundationEssentials18NotificationCenterC0A0E"
#define IS_STEP_OF_CENTER(operation, name, symbol)                                                 \
    NAMED(CENTER symbol,                                                                           \
          SWIFT_FUNCTION pair rl_center_##name(intptr_t a, intptr_t b, intptr_t c, intptr_t d,     \
                                               intptr_t e, intptr_t f, SWIFT_SELF void *center)) { \
        CALLED_AT(place, now);                                                                     \
        if (now == BY_PROGRAM) rl_point(&operation, center, place);                                \
        return REAL_AT(rl_center_##name, CENTER symbol)(a, b, c, d, e, f, center);                 \
    }

IS_STEP_OF_CENTER(read_guarded, post, "4postyyAD0C0VF")
IS_STEP_OF_CENTER(read_guarded, post_name,
                  "4post4name6object8userInfoyAD14NSNotificationC4NameV_ypSgSDys11AnyHashable"
                  "VypGSgtF")
IS_STEP_OF_CENTER(set_guarded, add,
                  "11addObserver7forName6object5queue5usingAD16NSObjectProtocol_pAD14NSNotifi"
                  "cationC0H0VSg_ypSgAD14OperationQueueCSgyAD0C0VYbctF")
IS_STEP_OF_CENTER(set_guarded, add_block,
                  "11addObserver7forName6object5queue10usingBlockAD16NSObjectProtocol_pAD14NS"
                  "NotificationC0H0VSg_ypSgAD14OperationQueueCSgyAD0C0VctF")
IS_STEP_OF_CENTER(set_guarded, remove, "14removeObserveryyypF")
IS_STEP_OF_CENTER(set_guarded, remove_name,
                  "14removeObserver_4name6objectyyp_AD14NSNotificationC4NameVSgypSgtF")

#endif
