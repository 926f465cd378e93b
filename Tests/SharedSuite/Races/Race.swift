import RaceLab
import Synchronization

/// A hazard that needs several threads, to be explored by the lab.
public protocol Race: Hazard {
    /// What happens, for readers who do not know the code.
    var title: String { get }

    /// The kinds of finding that count as a failure.
    var failingKinds: Set<Exploration.Finding.Kind> { get }

    /// Whether reduction leaves out permutations of independent steps.
    var reduces: Bool { get }

    /// The number of scenarios of the row.
    var scenarioCount: Int { get }

    /// The number of scenarios that belong to this row alone: those of R18 are of other rows.
    var recordedScenarios: Int { get }

    /// One of the scenarios, counted from 0, on a subject.
    func scenario(_ number: Int, on subject: Subject) -> (Scenario) -> Void

    /// Sets up the scenario for one type of promise, or the first of several.
    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type)
}

extension Race {
    /// Only R08 and R18 are about data races alone.
    public var failingKinds: Set<Exploration.Finding.Kind> {
        Set(Exploration.Finding.Kind.allCases).subtracting([.dataRace])
    }

    public var reduces: Bool { true }

    public var scenarioCount: Int { 1 }

    public var recordedScenarios: Int { 1 }

    public func scenario(_ number: Int, on subject: Subject) -> (Scenario) -> Void {
        scenario(on: subject)
    }

    /// The story for a command that shows one scenario.
    public var storyOfOne: String {
        guard scenarioCount > 1 else { return story }
        return story
            + " (This is the first of \(scenarioCount) scenarios. The matrix adds up all of them.)"
    }

    public var unavailable: String? { Exploration.unavailable }

    public var options: Exploration.Options {
        var options = Exploration.Options()
        options.failingKinds = failingKinds
        options.reduction = reduces
        return options
    }

    /// The scenario on a subject.
    public func scenario(on subject: Subject) -> (Scenario) -> Void {
        { scenario in
            if case .awaits(let type) = subject.promise {
                (self as? any AsyncRace)?.setUp(scenario, awaiting: type)
                return
            }
            if subject.usesDesignQueue {
                // The queue is another thread of the interleaving. It has ended before the checks
                // begin.
                DesignQueue.use(scenario.queue("queue"))
                scenario.check { DesignQueue.useCaller() }
            } else {
                DesignQueue.useCaller()
            }
            setUp(scenario, subject.type)
        }
    }

    public func exploration(on subject: Subject) -> Exploration {
        explore(options: options, scenario(on: subject))
    }

    public func runExpressible(on subject: Subject) -> Verdict {
        verdict([Explored.exploration(of: self, on: subject)])
    }

    func verdict(_ explorations: [Exploration]) -> Verdict {
        if let inconclusive = explorations.compactMap(\.inconclusive).first {
            return .unknown(inconclusive.description)
        }
        let explored = explorations.reduce(0) { $0 + $1.explored }
        let failing = explorations.reduce(0) { $0 + $1.failing }
        let findings = explorations.flatMap(\.findings)
        guard !findings.isEmpty else {
            if let cutOff = explorations.first(where: { !$0.survives }) {
                return .unknown(cutOff.summary)
            }
            return .survives(explored: explored, detail: "in every one of \(explored)")
        }
        let reasons = findings.compactMap(Reason.init)
        guard reasons.count == findings.count else {
            return .unknown(findings.map(\.description).joined(separator: "; "))
        }
        var seen: Set<Reason> = []
        return .fails(
            reasons.filter { seen.insert($0).inserted }, failing: failing, explored: explored,
            detail: Detail { findings[0].description })
    }
}

/// The explorations of this process. R18 judges those of R01 to R05 with other failing kinds, so
/// they are kept.
public enum Explored {
    private static let known = Mutex<(explorations: [String: Exploration], count: Int)>(([:], 0))

    /// The number of interleavings.
    public static var count: Int { known.withLock { $0.count } }

    static func exploration(of race: any Race, on subject: Subject) -> Exploration {
        let key = "\(race.id) on \(subject)"
        if let exploration = known.withLock({ $0.explorations[key] }) { return exploration }
        let exploration = exploration(race.options, race.scenario(on: subject))
        known.withLock { $0.explorations[key] = exploration }
        return exploration
    }

    static func exploration(
        _ options: Exploration.Options, _ scenario: @escaping (Scenario) -> Void
    )
        -> Exploration
    {
        let exploration = explore(options: options, scenario)
        known.withLock { $0.count += exploration.explored }
        return exploration
    }
}

extension Race {
    /// The findings, with the documented reason first.
    public func findings(of exploration: Exploration, on subject: Subject) -> [Exploration.Finding]
    {
        guard case .fails(let first, _) = expectation(on: subject) else {
            return exploration.findings
        }
        let isFirst = { (finding: Exploration.Finding) in Reason(finding) == first }
        return exploration.findings.filter(isFirst) + exploration.findings.filter { !isFirst($0) }
    }
}

extension Reason {
    /// The reason of a failed check, or the kind of a finding.
    public init?(_ finding: Exploration.Finding) {
        switch finding.kind {
        case .overlap: self = .overlap
        case .dataRace: self = .dataRace
        case .deadlock, .livelock: self = .deadlock
        default:
            guard let reason = Reason(sentence: finding.reason) else { return nil }
            self = reason
        }
    }

    private init?(sentence: String) {
        let all: [Reason] = [
            .replaced, .linkLost, .settledTwice, .tooEarly, .keptAlive, .silence, .lost, .twice,
            .bothKinds, .disagrees, .outOfOrder, .wrongValue, .waitsForEver,
        ]
        guard let reason = all.first(where: { $0.sentence == sentence }) else { return nil }
        self = reason
    }
}

/// Throws the sentence of a reason if the condition does not hold. For checks.
public func require(_ condition: Bool, or reason: Reason) throws {
    try Scenario.require(condition, reason.sentence)
}

/// A call of a handler in a scenario.
public struct Call: Equatable, CustomStringConvertible {
    public let who: String
    public let what: String

    public init(who: String, what: String) {
        self.who = who
        self.what = what
    }

    public var description: String { "\(who) receives \(what)" }
}

extension PromiseUnderTest {
    /// Registers a handler that logs each value it receives.
    public func listen(_ who: String, _ log: Scenario.Log<Call>) {
        mapping {
            log.append(Call(who: who, what: "\($0)"))
            return $0
        }
    }
}

extension Scenario {
    /// Shows the fields of a promise as columns.
    public func show(_ promise: some PromiseUnderTest) {
        for (index, title) in FieldTitles.of(promise).enumerated() {
            state(title) { promise.field(index) }
        }
    }
}

/// The titles of the fields of each type, computed once: reading the fields takes longer than many
/// a scenario, and scenarios are set up thousands of times.
private enum FieldTitles {
    private static let known = Mutex<[ObjectIdentifier: [String]]>([:])

    static func of<P: PromiseUnderTest>(_ promise: P) -> [String] {
        if let titles = known.withLock({ $0[ObjectIdentifier(P.self)] }) { return titles }
        let titles = promise.fields.map(\.title)
        known.withLock { $0[ObjectIdentifier(P.self)] = titles }
        return titles
    }
}

extension Scenario.Log<Call> {
    func count(_ who: String) -> Int { entries.count { $0.who == who } }

    /// Checks that each of these handlers was called exactly once.
    public func requireOnce(_ names: String...) throws {
        for name in names { try require(count(name) > 0, or: .lost) }
        for name in names { try require(count(name) < 2, or: .twice) }
    }
}

extension Exploration {
    /// An interleaving to show of a race that survives: one in which nothing was found or, if
    /// there is none, only what another row judges.
    package var toShow: Schedule? {
        passingSchedule ?? (failing == 0 ? otherFindings.last?.schedule : nil)
    }
}
