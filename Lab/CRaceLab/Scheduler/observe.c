// Data that a table shows in addition to the steps: the state that the scenario reads between
// steps, and the objects that exist.

#include "Scheduler/observe.h"

#include "Model/misuse.h"
#include "Platform/memory.h"
#include "Platform/recording.h"
#include "Scheduler/scheduler.h"
#include "Symbols/call_sites.h"

#include <string.h>

// MARK: - Reading the state

#define MAX_TAKEN 16
#define MAX_ATOMICS 10000
#define MAX_TOUCHED 100000

_Thread_local bool rl_is_observing;

static struct {
    void (*read)(void *context);
    void *context;
    bool is_complete;
    uintptr_t *touched;
    size_t touched_count, touched_capacity;
    held_lock taken[MAX_TAKEN];
    int taken_count, atomic_count;
    parker done;
    bool is_made;
} observation;

bool rl_observe(void (*read)(void *context), void *context) {
    if (!observation.is_made) rl_parker_make(&observation.done);
    observation.is_made = true;
    observation.read = read;
    observation.context = context;
    observation.is_complete = false;
    observation.touched_count = 0;
    observation.taken_count = observation.atomic_count = 0;
    worker *caller = lab.running;
    rl_ignore();
    rl_assign(OBSERVER);
    rl_park(&observation.done, NULL);
    rl_attend();
    lab.running = caller;
    return observation.is_complete;
}

size_t rl_touched(const uintptr_t **addresses) {
    *addresses = observation.touched;
    return observation.touched_count;
}

void rl_make_observation(void) {
    rl_is_observing = true;
    rl_leave_at_crash(rl_observer_gives_up);
    observation.read(observation.context);
    rl_leave_at_crash(NULL);
    rl_is_observing = false;
    observation.is_complete = true;
}

void rl_end_observation(void) {
    rl_leave_at_crash(NULL);
    rl_is_observing = false;
    for (int i = observation.taken_count; i-- > 0;)
        observation.taken[i].release(observation.taken[i].lock);
    rl_unpark(&observation.done);
}

void rl_observer_gives_up(void) {
    me->fate = OBSERVES_NO_MORE;
    rl_give_up();
}

void rl_touch(const void *address) {
    // The observer waits in a loop for what a suspended thread would do.
    if (observation.touched_count == MAX_TOUCHED) rl_observer_gives_up();
    MAKE_LASTING_ROOM(observation.touched, observation.touched_count, observation.touched_capacity,
                      64);
    observation.touched[observation.touched_count++] = (uintptr_t)address;
}

void rl_observer_locks(void *address, void (*release)(void *lock)) {
    RL_REQUIRE(rl_is_observing, "this thread does not read the state");
    rl_touch(address);
    // The observer would wait for a suspended thread. It is abandoned instead.
    if (rl_is_held(address) || observation.taken_count == MAX_TAKEN) rl_observer_gives_up();
    for (int i = 0; i < observation.taken_count; i++)
        if (observation.taken[i].lock == address) return;
    observation.taken[observation.taken_count++] = (held_lock){.lock = address, .release = release};
}

void rl_observer_uses_atomic(void) {
    // The observer spins on a lock that is built from an atomic and whose owner is suspended.
    if (++observation.atomic_count == MAX_ATOMICS) rl_observer_gives_up();
}

void rl_observer_unlocks(const void *address) {
    int i = observation.taken_count;
    while (i > 0 && observation.taken[i - 1].lock != address) i--;
    if (i == 0) return;
    observation.taken_count--;
    for (; i <= observation.taken_count; i++) observation.taken[i - 1] = observation.taken[i];
}

// MARK: - Objects

static struct {
    rl_object *all;
    size_t count, capacity;
    bool is_noting;
} objects;

RL_OF_RUN(objects)

/// The first bytes of an object: its class and its reference count.
enum { OBJECT_HEADER = 2 * sizeof(void *) };

void rl_note_objects(void) { objects.is_noting = true; }

size_t rl_noted_objects(const rl_object **noted) {
    // The code that judges the run creates objects, too. They must not move this table.
    objects.is_noting = false;
    *noted = objects.all;
    return objects.count;
}

void rl_note_object(void *object, size_t size, const void *type, rl_place place) {
    if (!objects.is_noting || !me || rl_is_observing) return;
    rl_ignore();
    // An initializer need not write all of this memory. What it contained before may be the address
    // of another object, and the search for the owner of that object would find this one.
    memset((char *)object + OBJECT_HEADER, 0, size - OBJECT_HEADER);
    MAKE_ROOM(objects.all, objects.count, objects.capacity, 256);
    objects.all[objects.count] = (rl_object){.address = (uintptr_t)object,
                                             .size = size,
                                             .type = type,
                                             .pc = rl_place_of_making(place).pc,
                                             .maker = me->thread,
                                             .order = objects.count};
    objects.count++;
    rl_attend();
}

void rl_forget_object(const void *memory) {
    if (!objects.is_noting || !me) return;
    for (size_t i = objects.count; i-- > 0;)
        if (objects.all[i].address == (uintptr_t)memory) objects.all[i].size = 0;
}
