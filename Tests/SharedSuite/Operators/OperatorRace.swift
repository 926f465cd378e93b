import PromiseOperators
import RaceLab

/// A race between operators. It runs on Stage 3 only, and each of its scenarios must survive.
protocol OperatorRace: Race {
    var scenarios: [@Sendable (Scenario) -> Void] { get }
}

extension OperatorRace {
    func whatIsMissing(from subject: Subject) -> String? { withoutOperators(subject) }

    var failingKinds: Set<Exploration.Finding.Kind> { Set(Exploration.Finding.Kind.allCases) }

    var scenarioCount: Int { scenarios.count }

    var recordedScenarios: Int { scenarios.count }

    func scenario(_ number: Int, on subject: Subject) -> (Scenario) -> Void {
        number == 0 ? scenario(on: subject) : scenarios[number]
    }

    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        scenarios[0](scenario)
    }

    func runExpressible(on subject: Subject) -> Verdict {
        let explorations = scenarios.map { Explored.exploration(options, $0) }
        // A failure explains itself, and may be the reason for a missing outcome.
        guard explorations.allSatisfy(\.survives) else { return verdict(explorations) }
        // An additional lock would remove the race, and the row would no longer test anything.
        if let missing = explorations.flatMap(\.unreached).first {
            return .unknown("no interleaving has the expected outcome: \(missing.outcome)")
        }
        guard explorations.allSatisfy({ $0.coverage == .all }) else {
            return .unknown("the lab has not explored all interleavings")
        }
        return verdict(explorations)
    }
}

/// Why an operator hazard cannot run on a subject; `nil` on Stage 3, the only one with operators.
func withoutOperators(_ subject: Subject) -> String? {
    switch subject.kind {
    case .design: "it is about operators, which the miniature leaves out"
    case .stage, .step: subject == .threadSafe ? nil : "it has no such operator"
    }
}

/// The outcomes that the observer of a promise, or a task that awaits it, received.
final class Ends: Sendable {
    let log = Scenario.Log<Call>()
    private let receiver: String

    init(receiver: String = "observer") {
        self.receiver = receiver
    }

    convenience init<Value>(of promise: AWPromise<Value>) {
        self.init()
        observe(promise)
    }

    func observe<Value>(_ promise: AWPromise<Value>) {
        promise.observe(on: ImmediateDispatcher()) { self.receive($0) }
    }

    func receive<Value>(_ outcome: Result<Value, any Error>) {
        log.append(Call(who: receiver, what: Ends.words(outcome)))
    }

    /// The only outcome. Throws if there are none, or several.
    func theOnly() throws -> String {
        let ends = log.entries.map(\.what)
        try require(!ends.isEmpty, or: .silence)
        try require(ends.count == 1, or: .twice)
        return ends[0]
    }

    func requireOnly(_ expected: String) throws {
        let end = try theOnly()
        try require(end == expected, or: .wrongValue)
    }

    private static func words<Value>(_ outcome: Result<Value, any Error>) -> String {
        switch outcome {
        case .success(let value): "fulfilled \(value)"
        case .failure(OperatorError.allRejected(let errors)): "rejected \(errors)"
        case .failure(let error): "rejected \(error)"
        }
    }
}

extension Scenario {
    /// Checks that there is one outcome, one of these, and that each of them occurs.
    func requireOneEnd(_ ends: Ends, _ ways: KeyValuePairs<String, String>) {
        check {
            let end = try ends.theOnly()
            try SharedSuite.require(ways.contains { $0.key == end }, or: .wrongValue)
        }
        outcome { (try? ends.theOnly()) ?? "" }
        for (way, meaning) in ways { expect(way, .acceptable, meaning) }
    }
}
