import RaceLab

/// How a subject fails: the word in its cell of the matrix.
public enum Reason: String, Sendable, Hashable {
    case replaced = "replaced"
    case linkLost = "link lost"
    case settledTwice = "settles twice"
    case tooEarly = "too early"
    case stackOverflow = "stack overflow"
    case keptAlive = "kept alive"
    case silence = "silence"
    case lost = "lost"
    case twice = "twice"
    case bothKinds = "both kinds"
    case disagrees = "result differs"
    case overlap = "overlap"
    case dataRace = "data race"
    case outOfOrder = "out of order"
    case wrongValue = "wrong value"
    case waitsForEver = "waits forever"
    case deadlock = "deadlock"
    case refused = "refused"

    /// A sentence about the promise.
    public var sentence: String {
        switch self {
        case .replaced: "the handler registered first is replaced by the second"
        case .linkLost: "registering a handler cuts the link to the rest of the chain"
        case .settledTwice: "a second settlement takes effect"
        case .tooEarly: "a handler runs before `then` has returned"
        case .stackOverflow: "each link of a chain needs a part of the stack"
        case .keptAlive: "an object is kept alive that cannot be used any more"
        case .silence: "the promise never settles, and its handlers never run"
        case .lost: "a handler is never called"
        case .twice: "a handler is called twice"
        case .bothKinds: "both a value and an error are delivered"
        case .disagrees: "the result is not the value that the handlers received"
        case .overlap: "two threads modify the same memory at the same time"
        case .dataRace: "two accesses to the same memory that nothing orders"
        case .outOfOrder: "handlers are not called in the order of registration"
        case .wrongValue: "a handler receives a value or an error that was never sent"
        case .waitsForEver: "a promise waits for itself"
        case .deadlock: "no thread can continue"
        case .refused: "the compiler refuses to share it between threads"
        }
    }
}

/// The documented verdict of a hazard on a subject.
public enum Expectation: Sendable, Equatable {
    case survives
    /// Fails for exactly these reasons; the matrix shows the first.
    case fails(Reason, and: Set<Reason> = [])
    /// The subject cannot express it.
    case cannotExpress(String)

    public var reasons: Set<Reason> {
        if case .fails(let first, let others) = self { others.union([first]) } else { [] }
    }
}

/// A sentence that is composed on demand, because looking up source lines takes longer than
/// finding the failure.
public struct Detail: Sendable, Equatable, CustomStringConvertible, ExpressibleByStringInterpolation
{
    private let sentence: @Sendable () -> String

    public init(_ sentence: @escaping @Sendable () -> String) {
        self.sentence = sentence
    }

    public init(stringLiteral sentence: String) {
        self.sentence = { sentence }
    }

    public var description: String { sentence() }

    public static func == (left: Detail, right: Detail) -> Bool {
        left.description == right.description
    }
}

/// The result of running a hazard on a subject.
public enum Verdict: Sendable, Equatable {
    /// `explored`: the number of interleavings of a race.
    case survives(explored: Int?, detail: Detail)
    case fails([Reason], failing: Int?, explored: Int?, detail: Detail)
    case cannotExpress(String)
    /// The verdict is not known.
    case unknown(String)

    /// What happened, or why nothing could.
    package var sentence: String {
        switch self {
        case .survives(_, let detail), .fails(_, _, _, let detail): "\(detail)"
        case .cannotExpress(let why), .unknown(let why): why
        }
    }

    /// The difference between the verdict and the documented one; `nil` if there is none.
    public func difference(from expectation: Expectation) -> String? {
        switch (self, expectation) {
        case (.survives, .survives), (.cannotExpress, .cannotExpress):
            return nil
        case (.fails(let found, _, _, let detail), .fails):
            let missing = expectation.reasons.subtracting(found)
            let unforeseen = Set(found).subtracting(expectation.reasons)
            if missing.isEmpty && unforeseen.isEmpty { return nil }
            let words = { (reasons: Set<Reason>) in
                reasons.map(\.rawValue).sorted().joined(separator: ", ")
            }
            return "fails for other reasons than documented: found "
                + "\(words(Set(found))); documented \(words(expectation.reasons)) (\(detail))"
        case (.fails(_, _, _, let detail), .survives):
            return "documented to survive, but fails: \(detail)"
        case (.survives(_, let detail), .fails):
            return "documented to fail, but survives: \(detail)"
        case (.unknown(let why), _):
            return why
        default:
            return "the catalogue and the suite disagree on whether it can be expressed"
        }
    }
}

/// One thing that can go wrong with a promise.
public protocol Hazard: Sendable {
    var id: String { get }
    /// A few words, for a row of the matrix.
    var name: String { get }
    /// The scenario and the requirement, in a sentence or two.
    var story: String { get }

    /// Why it cannot run on this platform, or in this build; `nil` if it can.
    var unavailable: String? { get }

    /// The feature that a subject lacks to express the hazard; `nil` if it lacks none.
    func whatIsMissing(from subject: Subject) -> String?

    /// Runs the hazard on a subject that can express it; see ``run(on:)``.
    func runExpressible(on subject: Subject) -> Verdict
}

extension Hazard {
    public var unavailable: String? { nil }

    public func whatIsMissing(from subject: Subject) -> String? { nil }

    /// Why a subject cannot express the hazard at all; `nil` if it can.
    public func obstacle(on subject: Subject) -> String? {
        subject.hasAsyncFunctions && !(self is any AsyncHazard)
            ? "its functions are async, and the row calls it from threads"
            : whatIsMissing(from: subject)
    }

    /// Why it cannot run here on a subject; `nil` if it can.
    public func unavailable(on subject: Subject) -> String? {
        unavailable ?? (subject.hasAsyncFunctions && self is any Race ? unavailableTasks : nil)
    }

    /// The documented verdict of the hazard on a subject.
    public func expectation(on subject: Subject) -> Expectation {
        if let obstacle = obstacle(on: subject) { return .cannotExpress(obstacle) }
        return subject.documented[id] ?? .survives
    }

    /// Runs the hazard on a subject.
    public func run(on subject: Subject) -> Verdict {
        if case .cannotExpress(let why) = expectation(on: subject) { return .cannotExpress(why) }
        return runExpressible(on: subject)
    }
}

/// A hazard that promises with `async` functions can also express.
protocol AsyncHazard: Hazard {}

/// Thrown by a scenario when the promise has failed.
public struct Failed: Error {
    public let reason: Reason
    public let detail: String
}

/// Throws ``Failed`` with a reason and a sentence if the condition does not hold.
public func require(
    _ condition: Bool, or reason: Reason, _ detail: @autoclosure () -> String
) throws {
    if !condition { throw Failed(reason: reason, detail: detail()) }
}

/// An error that scenarios send and recognize.
public struct Sent: Error, Equatable, CustomStringConvertible {
    public let name: String
    public init(_ name: String) { self.name = name }
    public var description: String { "'\(name)'" }
}

// MARK: - One thread

/// A hazard that needs one thread, and only operations that every stage has.
protocol OneThreadHazard: Hazard {
    /// Runs the hazard on a type of promise. Throws ``Failed``, or describes what happened.
    func run<P: PromiseUnderTest>(_ promise: P.Type) throws -> String
}

extension OneThreadHazard {
    public func runExpressible(on subject: Subject) -> Verdict {
        verdictOfOneThread { try run(subject.type) }
    }
}

/// A hazard that needs a `then` which flattens.
protocol FlatteningHazard: Hazard {
    func run<P: FlatteningPromise>(_ promise: P.Type) throws -> String
}

extension FlatteningHazard {
    public func whatIsMissing(from subject: Subject) -> String? {
        subject.flatteningType == nil ? withoutFlattening : nil
    }

    public func runExpressible(on subject: Subject) -> Verdict {
        guard let type = subject.flatteningType else { return .cannotExpress(withoutFlattening) }
        return verdictOfOneThread { try run(type) }
    }
}

let withoutFlattening = "its `then` yields a promise of a promise"

extension Subject {
    var flatteningType: (any FlatteningPromise.Type)? { type as? any FlatteningPromise.Type }
}

/// Runs on a thread of the lab if possible, so that a promise that deadlocks fails instead of
/// blocking the process.
func verdictOfOneThread(_ run: @escaping () throws -> String) -> Verdict {
    guard Exploration.unavailable == nil else {
        DesignQueue.useCaller()
        return verdict(run)
    }
    var found: Verdict?
    var options = Exploration.Options()
    options.failingKinds = [.deadlock, .livelock]
    let exploration = explore(options: options) { scenario in
        // A race that ended in a deadlock has left its queue behind. It is replaced here and not
        // before the exploration, when another one may still be using its own.
        DesignQueue.useCaller()
        scenario.thread("main") { found = verdict(run) }
    }
    if let finding = exploration.findings.first {
        return .fails(
            [.deadlock], failing: nil, explored: nil, detail: Detail { finding.reason })
    }
    return found ?? .unknown(exploration.summary)
}

func verdict(_ run: () throws -> String) -> Verdict {
    do {
        return .survives(explored: nil, detail: "\(try run())")
    } catch let failed as Failed {
        return .fails([failed.reason], failing: nil, explored: nil, detail: "\(failed.detail)")
    } catch {
        return .unknown("the scenario itself failed: \(error)")
    }
}
