// `NotificationCenter`: what it knows of its observers is one variable, which `post` reads before it
// calls them. The lock that it has for this makes no calls.
//
// An older Foundation has none of these functions, and a lock that does make calls, see mutex.c.

#include "Primitives/families.h"
#include "Primitives/guarded.h"
#include "Primitives/next_symbol.h"
#include "Scheduler/points.h"

#if !defined(RL_WITHOUT_HOOKS) && defined(__linux__)

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
        IS_LISTENED_TO(place);                                                                     \
        if (is_listened_to) rl_point(&operation, center, place);                                   \
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
