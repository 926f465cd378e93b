// Stands in for a Swift program: the Swift runtime, which the engine calls after its own work, and
// Dispatch, which the tests do not use.

#include <stdint.h>

uint64_t _swift_stdlib_Hashing_parameters[3];

void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *pc) {
    (void)address, (void)buffer, (void)flags, (void)pc;
}

void dispatch_retain(void *object) { (void)object; }
