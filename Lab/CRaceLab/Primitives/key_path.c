// The entry points that read and change properties by key path. The standard library makes the
// accesses itself, where the lab cannot intercept them. But the key path tells in advance which
// accesses there will be.
//
// The layout of a key path is described in the sources of the standard library
// (stdlib/public/core/KeyPath.swift). A test compares the accesses that this file predicts with
// those of direct accesses to the same properties.

#include "Primitives/families.h"
#include "Primitives/next_symbol.h"
#include "Primitives/plain_memory.h"
#include "Primitives/points.h"

#ifndef RL_WITHOUT_HOOKS

// MARK: - Decoding a key path

enum { STORED_IN_STRUCT = 1, COMPUTED = 2, STORED_IN_CLASS = 3, OPTIONAL = 4 };
enum { CHAIN = 0, WRAP = 1, FORCE = 2 };

#define HAS_REFERENCE_PREFIX 0x40000000u
#define SIZE_OF_COMPONENTS 0x00FFFFFFu
#define ENDS_REFERENCE_PREFIX 0x80000000u
#define IS_VARIABLE 0x00800000u
#define OFFSET 0x007FFFFFu
#define OFFSET_IS_BEHIND 0x007FFFFFu

/// The position of a walk along a key path.
typedef struct {
    const char *component, *end;
    const char *value;  // the address of the value reached so far
    bool modifies;      // accesses from here on are modifications if the operation modifies
} walk;

/// An access to a property of an object on the way.
typedef struct {
    const void *address;
    rl_kind kind;
} access;

static uint32_t word(const char *at) { return *(const uint32_t *)at; }
static const void *pointer(const char *at) { return *(const void *const *)at; }

static const char *aligned(const char *at) {
    return (const char *)(((uintptr_t)at + sizeof(void *) - 1) & ~(sizeof(void *) - 1));
}

static walk beginning(const void *root, const void *key_path) {
    // Skip the object header and the Objective-C name.
    const char *buffer = (const char *)key_path + 3 * sizeof(void *);
    uint32_t header = word(buffer);
    const char *components = buffer + sizeof(void *);
    return (walk){.component = components,
                  .end = components + (header & SIZE_OF_COMPONENTS),
                  .value = root,
                  .modifies = !(header & HAS_REFERENCE_PREFIX)};
}

/// Whether an optional that wraps a type contains a value.
static bool holds_something(const char *value, const void *wrapped_type) {
    typedef unsigned (*tag)(const void *value, unsigned empty_cases, const void *type);
    const void *const *witnesses = ((const void *const *const *)wrapped_type)[-1];
    const int get_enum_tag_single_payload = 6;
    return ((tag)witnesses[get_enum_tag_single_payload])(value, 1, wrapped_type) == 0;
}

/// Advances by one component. Returns false at the end, or at a component that runs code: the
/// accesses of that code are intercepted anyway.
static bool go_on(walk *w, access *found) {
    found->address = NULL;
    if (w->component + sizeof(uint32_t) > w->end) return false;
    uint32_t header = word(w->component);
    uint32_t kind = header >> 24 & 0x7F, offset = header & OFFSET;
    const char *behind = w->component + sizeof header;
    switch (kind) {
        case STORED_IN_STRUCT:
        case STORED_IN_CLASS:
            if (offset == OFFSET_IS_BEHIND) {
                offset = word(behind);
                behind += sizeof offset;
            }
            if (kind == STORED_IN_CLASS) {
                w->value = pointer(w->value);
                if (!w->value) return false;
            }
            w->value += offset;
            if (kind == STORED_IN_CLASS && (header & IS_VARIABLE)) {
                found->address = w->value;
                found->kind = w->modifies ? RL_MODIFY : RL_READ;
            }
            break;
        case OPTIONAL:
            // The last component accesses nothing, and no type follows it.
            if (offset == WRAP || behind >= w->end) return false;
            if (!holds_something(w->value, pointer(aligned(behind)))) return false;
            break;
        default:
            return false;
    }
    if (header & ENDS_REFERENCE_PREFIX) w->modifies = true;
    // A component is followed by its type, unless it is the last one.
    w->component = aligned(behind) + sizeof(void *);
    return true;
}

/// Finds the access with this number, counted from 0.
static bool nth_access(const void *root, const void *key_path, int number, access *found) {
    walk w = beginning(root, key_path);
    while (go_on(&w, found)) {
        if (!found->address) continue;
        if (number-- == 0) return true;
    }
    return false;
}

/// Makes a step of every predicted access. Another thread may redirect the path before a step gets
/// its turn; then the new access becomes a step as well.
static void listen(const void *root, const void *key_path, bool modifies, rl_place place) {
    access next, now;
    for (int i = 0; nth_access(root, key_path, i, &next); i++) {
        do {
            now = next;
            rl_point(modifies && now.kind == RL_MODIFY ? &rl_modify : &rl_read, now.address, place);
        } while (nth_access(root, key_path, i, &next) && next.address != now.address);
    }
}

/// The library accesses the member at the end of a path through structures. The caller may have
/// begun an access to the whole structure.
static void access_member(const void *root, const void *key_path, bool modifies, rl_place place) {
    if (modifies) rl_is_changed_by_runtime();
    walk w = beginning(root, key_path);
    access found;
    while (go_on(&w, &found))
        if (found.address) return;
    if (w.component >= w.end && rl_is_sanitized(place.pc))
        rl_accesses_memory(modifies ? RL_MODIFY : RL_READ, (uintptr_t)w.value, place);
}

/// `lends`: the caller gets the address of the member and accesses it.
#define LISTEN(root, key_path, modifies, lends)                                  \
    do {                                                                         \
        rl_place place = RL_CALLER;                                              \
        if (!rl_is_under_test(place.pc) || !rl_sees(RL_KEY_PATHS, place)) break; \
        listen(root, key_path, modifies, rl_place_in_source(place));             \
        if (!lends) access_member(root, key_path, modifies, place);              \
    } while (0)

// MARK: - The entry points

#define RESULT __attribute__((swift_indirect_result)) void *

/// What a coroutine returns: its continuation and the address of the value it lends.
typedef struct {
    void *proceed, *lent;
} yielded;

#define GET(name)                                                                     \
    SWIFT_FUNCTION void name(RESULT result, const void *root, const void *key_path) { \
        LISTEN(root, key_path, false, false);                                         \
        REAL(name)(result, root, key_path);                                           \
    }

#define SET(name)                                                                         \
    SWIFT_FUNCTION void name(const void *root, const void *key_path, const void *value) { \
        LISTEN(root, key_path, true, false);                                              \
        REAL(name)(root, key_path, value);                                                \
    }

#define LEND(name, modifies)                                                            \
    SWIFT_FUNCTION yielded name(void *buffer, const void *root, const void *key_path) { \
        LISTEN(root, key_path, modifies, true);                                         \
        return REAL(name)(buffer, root, key_path);                                      \
    }

GET(swift_getAtKeyPath)
GET(swift_getAtPartialKeyPath)
SET(swift_setAtWritableKeyPath)
SET(swift_setAtReferenceWritableKeyPath)
LEND(swift_readAtKeyPath, false)
LEND(swift_modifyAtWritableKeyPath, true)
LEND(swift_modifyAtReferenceWritableKeyPath, true)

#endif
