import PromiseOperators
import RaceLab

/// A race between operators. Only Stage 3 has them, so it is the only stage to run on; each of the
/// scenarios has to hold.
protocol OperatorRace: Race {
    var scenarios: [@Sendable (Scenario) -> Void] { get }
}

extension OperatorRace {
    func whatIsMissing(from subject: Subject) -> String? { withoutOperators(subject) }

    var judging: Set<Finding.Kind> { Set(Finding.Kind.allCases) }

    /// The first of them, to have one to show.
    func setUp<P: PromiseUnderTest>(_ scenario: Scenario, _ promise: P.Type) {
        scenarios[0](scenario)
    }

    func runExpressible(on subject: Subject) -> Verdict {
        let reports = scenarios.map { Explored.report(options, $0) }
        // What has failed says why by itself, and may well be the reason that some end is missing.
        guard reports.allSatisfy(\.survives) else { return verdict(reports) }
        // A lock too many would make a race disappear, and with it what the row is about.
        if let missing = reports.flatMap(\.unreached).first {
            return .unknown("no interleaving ends as it could: \(missing.outcome)")
        }
        guard reports.allSatisfy({ $0.extent == .all }) else {
            return .unknown("there are more interleavings than the lab has explored")
        }
        return verdict(reports)
    }
}

/// Why a hazard of the operators cannot run on a subject; `nil` on Stage 3, which alone has them.
func withoutOperators(_ subject: Subject) -> String? {
    switch subject.kind {
    case .design: "it is about operators, which the miniature leaves out"
    case .stage, .step: subject == .threadSafe ? nil : "it has no such operator"
    }
}

/// How a promise ended, each time that its observer was told.
final class Ends: Sendable {
    let log = Log<Call>()

    init() {}

    init<Value>(of promise: AWPromise<Value>) {
        observe(promise)
    }

    func observe<Value>(_ promise: AWPromise<Value>) {
        promise.observe(on: ImmediateDispatcher()) { outcome in
            self.log.append(Call(who: "observer", what: Ends.words(outcome)))
        }
    }

    /// What the observer was told, once.
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
    /// It ends once, in one of these ways, each of which happens in some interleaving.
    func requireOneEnd(_ ends: Ends, _ ways: KeyValuePairs<String, String>) {
        check {
            let end = try ends.theOnly()
            try require(ways.contains { $0.key == end }, or: .wrongValue)
        }
        outcome { (try? ends.theOnly()) ?? "" }
        for (way, meaning) in ways { expect(way, .acceptable, meaning) }
    }
}
