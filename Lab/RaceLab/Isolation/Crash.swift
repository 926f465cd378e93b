import CRaceLab
import Foundation

/// A crash of the code under test, as its process recorded it.
struct Crash {
    let signal: Int32
    let isOverflow: Bool
    let address: UInt
    let frames: [UInt]

    /// Describes the crash in a sentence.
    ///
    /// - Parameter message: what the Swift runtime has written about it, if that is known.
    func sentence(_ who: String, message: String?) -> String {
        let name = Crash.name(of: signal)
        if isOverflow { return "\(who) overflows its stack\(place) (\(name))" }
        let what = message ?? (jump == 0 ? nil : "Arithmetic overflow")
        if let what { return "\(who) crashes\(place): \(what) (\(name))" }
        return "\(who) crashes\(trap.map { " in \($0)" } ?? "")\(place) (\(name))"
    }

    /// Where a check for arithmetic overflow failed; 0 if the crash is something else.
    private var jump: UInt { UInt(rl_overflow_before_trap(address)) }

    /// The frames before the crash belong to the signal handler; those after it are return
    /// addresses. Adding 1 makes the address of the crash look like one of them.
    private var addresses: [UInt] {
        let statement = jump == 0 ? address : jump
        return frames.drop { $0 != address }.map { $0 == address ? statement + 1 : $0 }
    }

    /// The C function of a library in which there is a trap: its name says what is used wrongly.
    private var trap: String? {
        guard [SIGILL, SIGTRAP].contains(signal) else { return nil }
        let inside = addresses.prefix { !rl_is_of_program($0) }
        guard inside.count < addresses.count else { return nil }
        return inside.lazy.compactMap { rl_name_of_function($0).map(String.init(cString:)) }
            .first { !$0.hasPrefix("_") && !$0.hasPrefix("$") }
    }

    /// The innermost place in source that can be read.
    private var place: String {
        // Looking up symbols of libraries takes seconds.
        let ours = addresses.lazy.filter { rl_is_of_program($0) }
        let site = ours.compactMap { Symbols.sites(of: [$0])[$0] }.first { $0.isOfProgram }
        return site.map { " at \($0.file):\($0.line)" } ?? ""
    }

    static func name(of signal: Int32) -> String {
        let names: [Int32: String] = [
            SIGILL: "SIGILL", SIGTRAP: "SIGTRAP", SIGABRT: "SIGABRT", SIGSEGV: "SIGSEGV",
            SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGSYS: "SIGSYS", SIGPIPE: "SIGPIPE",
            SIGKILL: "SIGKILL", SIGTERM: "SIGTERM",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}

/// Makes a stack overflow on the calling thread write `message` to standard error and end the
/// process with status 0 instead of with a signal. For a process that was started to test for a
/// stack overflow; any other bad access still crashes.
package func reportStackOverflow(_ message: String) {
    rl_report_stack_overflow(0, message)
}
