// Stands for what the engine finds in a Swift program: the Swift runtime, which is called after the
// engine has had its turn, and Dispatch, of which the tests use nothing.

#include <stdint.h>

uint64_t _swift_stdlib_Hashing_parameters[3];

void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *pc) {
    (void)address, (void)buffer, (void)flags, (void)pc;
}

void dispatch_retain(void *object) { (void)object; }
