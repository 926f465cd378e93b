import RaceLab

/// How a stage fails: the word that stands in the matrix.
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
    case waitsForEver = "waits for ever"
    case deadlock = "deadlock"
    case refused = "refused"

    /// The same as a sentence about the promise.
    public var sentence: String {
        switch self {
        case .replaced: "the handler registered first is replaced by the second"
        case .linkLost: "registering a handler cuts the link to the rest of the chain"
        case .settledTwice: "a second settlement takes effect"
        case .tooEarly: "a handler runs before `then` has returned"
        case .stackOverflow: "each link of a chain takes its piece of the stack"
        case .keptAlive: "something is kept alive that nobody can use any more"
        case .silence: "nobody is told, and whoever waits will wait for ever"
        case .lost: "a handler is never called"
        case .twice: "a handler is called twice"
        case .bothKinds: "both a value and an error are delivered"
        case .disagrees: "the result is not what the handlers were told"
        case .overlap: "two threads are in the middle of modifying the same thing"
        case .dataRace: "two accesses to the same memory, and nothing orders them"
        case .outOfOrder: "handlers are not called in the order of their registration"
        case .wrongValue: "a value or an error arrives that nobody sent"
        case .waitsForEver: "a promise waits for itself"
        case .deadlock: "no thread can go on"
        case .refused: "the compiler does not let two threads share it"
        }
    }
}

/// What the catalogue says about a hazard on a stage.
public enum Expectation: Sendable, Equatable {
    case survives
    /// Fails, and for exactly these reasons; the matrix shows the first.
    case fails(Reason, and: Set<Reason> = [])
    /// The stage has no way to say it.
    case cannotExpress(String)

    public var reasons: Set<Reason> {
        if case .fails(let first, let others) = self { others.union([first]) } else { [] }
    }
}

/// A sentence that is put together when it is asked for: to say where something is in the source
/// takes longer than to find it.
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

/// What running a hazard on a stage has shown.
public enum Verdict: Sendable, Equatable {
    /// `explored`: how many interleavings, for a race.
    case survives(explored: Int?, detail: Detail)
    case fails([Reason], failing: Int?, explored: Int?, detail: Detail)
    case cannotExpress(String)
    /// It could not be found out.
    case unknown(String)

    /// Whether it is what the catalogue says; if not, how it differs.
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
            return "it fails for other reasons than documented: found "
                + "\(words(Set(found))); documented \(words(expectation.reasons)) (\(detail))"
        case (.fails(_, _, _, let detail), .survives):
            return "it is documented to survive, but fails: \(detail)"
        case (.survives(_, let detail), .fails):
            return "it is documented to fail, but survives: \(detail)"
        case (.unknown(let why), _):
            return why
        default:
            return "the catalogue and the suite disagree on whether it can be expressed"
        }
    }
}

/// A way in which promises go wrong.
public protocol Hazard: Sendable {
    var id: String { get }
    /// A few words, for a row of the matrix.
    var name: String { get }
    /// For people: what is done, and what ought to come of it.
    var story: String { get }
    func expectation(on stage: Stage) -> Expectation

    /// Finds out how a stage fares.
    func run(on stage: Stage) -> Verdict
}

/// Thrown by a scenario when the promise has failed.
public struct Failed: Error {
    public let reason: Reason
    public let detail: String
}

/// For what one thread does: fails for a reason, and with a sentence about this case.
public func require(
    _ condition: Bool, or reason: Reason, _ detail: @autoclosure () -> String
) throws {
    if !condition { throw Failed(reason: reason, detail: detail()) }
}

/// An error for scenarios to send on its way and recognise.
public struct Sent: Error, Equatable, CustomStringConvertible {
    public let name: String
    public init(_ name: String) { self.name = name }
    public var description: String { "'\(name)'" }
}

// MARK: - One thread

/// A hazard that needs one thread only, and no more of a promise than every stage has.
protocol OneThreadHazard: Hazard {
    /// Tries it. Throws ``Failed`` if the promise fails; else says what was seen.
    func play<P: PromiseUnderTest>(_ promise: P.Type) throws -> String
}

extension OneThreadHazard {
    public func run(on stage: Stage) -> Verdict {
        if case .cannotExpress(let why) = expectation(on: stage) { return .cannotExpress(why) }
        return verdictOfOneThread {
            switch stage {
            case .naive: try play(Naive.self)
            case .handlers: try play(Handlers.self)
            case .threadSafe: try play(ThreadSafe.self)
            }
        }
    }
}

/// A hazard that needs a `then` which flattens.
protocol FlatteningHazard: Hazard {
    func play<P: FlatteningPromise>(_ promise: P.Type) throws -> String
}

extension FlatteningHazard {
    public func run(on stage: Stage) -> Verdict {
        switch stage {
        case .naive: .cannotExpress("its `then` yields a promise of a promise")
        case .handlers: verdictOfOneThread { try play(Handlers.self) }
        case .threadSafe: verdictOfOneThread { try play(ThreadSafe.self) }
        }
    }
}

/// Plays on a thread of the lab, if it can work here: a promise that locks itself out then fails
/// with a deadlock, where it would have taken the whole run with it.
func verdictOfOneThread(_ play: @escaping () throws -> String) -> Verdict {
    guard unavailable == nil else { return verdict(play) }
    var played: Verdict?
    var options = Options()
    options.judging = [.deadlock, .livelock]
    let report = explore(options: options) { scenario in
        scenario.thread("main") { played = verdict(play) }
    }
    if let finding = report.findings.first {
        return .fails(
            [.deadlock], failing: nil, explored: nil, detail: Detail { finding.description })
    }
    return played ?? .unknown(report.summary)
}

func verdict(_ play: () throws -> String) -> Verdict {
    do {
        return .survives(explored: nil, detail: "\(try play())")
    } catch let failed as Failed {
        return .fails([failed.reason], failing: nil, explored: nil, detail: "\(failed.detail)")
    } catch {
        return .unknown("the scenario itself failed: \(error)")
    }
}
