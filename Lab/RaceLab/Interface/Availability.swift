import CRaceLab

// Whether the lab can work in this build and this process.

extension Exploration {
    /// Why the lab cannot work in this build; `nil` if it can.
    public static var unavailable: String? {
        #if DEBUG
            if let why = rl_unavailable() { return String(cString: why) }
            guard Symbol.canBeFound else {
                return
                    "the lab needs a runtime that finds source lines: on macOS, version 26 or later"
            }
            return hears
                ? nil
                : "the lab sees no accesses: the Swift runtime's swift_beginAccess is bound elsewhere "
                    + "(is the standard library linked statically?)"
        #else
            return
                "the lab needs a debug build: in a release build the compiler leaves out the calls "
                + "on which it listens (swift build -c debug, which is the default)"
        #endif
    }
}

private final class Probe {
    var value = 0
}

/// Whether the lab sees an access to a property. Tested once.
private let hears = isHeard()

/// In optimized code, this access would not be announced.
@_optimize(none) private func isHeard() -> Bool {
    let probe = Probe()
    let before = rl_heard()
    probe.value += 1
    return rl_heard() != before
}
