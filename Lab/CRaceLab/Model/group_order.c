// The order in which threads enter and leave a group decides nothing if each leave comes after an
// enter of its own, so that none of them comes too early, and if all who look at the group do so
// before or after each enter, so that none of them can find it empty for a moment. This is how
// groups are meant to be used. "Before" means that it comes first in every order of independent
// steps.
//
// That is known only after a run. During a run, sleep sets use what holds in the current state: see
// RL_MANY.

#include "Model/group_order.h"

#include "Model/happens_before.h"
#include "Platform/memory.h"

/// If there are more, the order counts as one that shows.
enum { MOST_EVENTS = 1000 };

typedef struct {
    const lock *group;
    rl_moment moment;
    enum { ENTERED, LEFT_AGAIN, LOOKED } what;
} event;

static struct {
    event *all;
    size_t count, capacity;
} events;

RL_OF_RUN(events)

static void add(const lock *group, int what) {
    if (events.count == MOST_EVENTS) lab.run.group_order_shows = true;
    if (lab.run.group_order_shows) return;
    MAKE_ROOM(events.all, events.count, events.capacity, 16);
    const rl_moment now = {(int8_t)me->thread, my_thread()->clock.at[me->thread]};
    events.all[events.count++] = (event){group, now, what};
}

/// The last event of a group that is of this kind, and that comes before what the calling thread
/// does now, or need not come before it.
static event *last(const lock *group, int what, bool is_past) {
    for (size_t i = events.count; i-- > 0;) {
        event *e = &events.all[i];
        if (e->group == group && e->what == what && rl_knows(e->moment) == is_past) return e;
    }
    return NULL;
}

void rl_enters_group(const lock *group) {
    if (group->is_followed || last(group, LOOKED, false)) lab.run.group_order_shows = true;
    add(group, ENTERED);
}

void rl_leaves_group(lock *group) {
    if (group->is_of_item) return;
    event *own = last(group, ENTERED, true);
    if (own)
        own->what = LEFT_AGAIN;
    else if (group->count_at_first > 0)
        group->count_at_first--;
    else
        lab.run.group_order_shows = true;
}

void rl_looks_at_group(const lock *group) {
    if (last(group, ENTERED, false) || last(group, LEFT_AGAIN, false))
        lab.run.group_order_shows = true;
    add(group, LOOKED);
}
