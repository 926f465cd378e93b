// Of Dispatch, what more than one file listens to.

#ifndef RACELAB_DISPATCH_H
#define RACELAB_DISPATCH_H

#include "engine.h"
#include "real.h"

typedef void *dispatch_object;
typedef void (*function)(void *context);

typedef struct {
    function work;
    void *context;
} call;

typedef enum { SERIAL, CONCURRENT, GLOBAL, MAIN } queue_kind;
queue_kind rl_kind_of_queue(dispatch_object queue);

/// The context is a block, which takes no arguments.
void rl_call_block(void *context);

/// Makes a call on a queue, as if the thread that makes it waited for the queue. `work` stands in line
/// for it (`rl_stand_in_line`); NULL: the thread comes for itself.
void rl_run_on_queue(dispatch_object queue, call c, bool barrier, const void *work, rl_place place);

#endif
