import RaceLab
import Synchronization
import Testing

extension Exploration.Options {
    /// The default options with a change.
    static func with(_ change: (inout Self) -> Void) -> Self {
        var options = Self()
        change(&options)
        return options
    }

    /// With or without reduction.
    static func reducing(_ reduction: Bool) -> Self { .with { $0.reduction = reduction } }

    /// Without reduction.
    static var everyOrder: Self { .reducing(false) }

    /// In a child process.
    static var isolated: Self { .with { $0.isolation = .patient } }
}

extension Exploration.Options.Isolation {
    /// A child process with so much time that a busy machine makes no difference.
    static let patient = childProcess(timeLimit: .seconds(600))
}

extension Exploration {
    /// The reasons of the findings of one kind.
    func reasons(_ kind: Exploration.Finding.Kind) -> [String] {
        findings.filter { $0.kind == kind }.map(\.reason)
    }

    /// What the lab cannot control, and its place, if that is why there is no verdict.
    var uncontrolled: (what: String, place: String)? {
        guard case .uncontrolled(let what, let place) = inconclusive else { return nil }
        return (what, place)
    }

    /// The thread that blocks where the lab does not see it, and the place, if that is why there is
    /// no verdict.
    var blocked: (thread: String, place: String)? {
        guard case .blocked(let thread, let place) = inconclusive else { return nil }
        return (thread, place)
    }
}

extension Exploration.ReplayError {
    var mismatch: Exploration.ScheduleMismatch? {
        if case .mismatch(let mismatch) = self { mismatch } else { nil }
    }

    var malformed: Exploration.Schedule.Malformed? {
        if case .malformed(let malformed) = self { malformed } else { nil }
    }

    var inconclusive: Exploration.Inconclusive? {
        if case .inconclusive(let reason) = self { reason } else { nil }
    }
}

/// Why a replay is refused.
@discardableResult
func refusal(
    sourceLocation: SourceLocation = #_sourceLocation, of replay: () throws -> Any
) -> Exploration.ReplayError? {
    #expect(throws: Exploration.ReplayError.self, sourceLocation: sourceLocation) {
        _ = try replay()
    }
}

extension Scenario {
    /// Adds threads that do the same.
    func threads(_ names: String..., doing body: @escaping () throws -> Void) {
        for name in names { thread(name, body) }
    }
}

/// The variables that threads share in these tests.
final class Shared: @unchecked Sendable {
    var value = 0
    var other = 0
    var isReady = false
    var items: [Int] = []
}

/// A variable that threads share.
final class Holder<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}

/// A flag that one thread sets and others wait for.
final class Change: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func set() { flag.store(true, ordering: .sequentiallyConsistent) }
}

/// Uses constants, so that the compiler does not remove them.
func keep<each Value>(_ value: repeat each Value) {}

/// The file and line of the code that follows, as findings name them.
func place(_ offset: Int = 0, file: String = #fileID, line: Int = #line) -> String {
    "\(file.split(separator: "/").last!):\(line + offset)"
}
