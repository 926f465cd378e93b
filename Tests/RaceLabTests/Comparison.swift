import RaceLab

/// What a model predicts for a program.
struct Prediction {
    /// The possible outcomes, including "deadlock".
    let outcomes: Set<String>
    /// Whether it has a data race; contains both values if the model cannot tell.
    let races: Set<Bool>

    static let deadlock = "deadlock"

    /// Where the lab disagrees with the prediction, with and without reduction.
    func disagreements(
        on name: String, faults: UInt32 = 0, upTo interleavings: Int = 5_000,
        _ describe: @escaping (Scenario) -> Void
    ) -> [String] {
        [false, true].compactMap { reduction in
            var options = Exploration.Options()
            options.reduction = reduction
            options.maximumInterleavings = interleavings
            options.faults = faults
            let report = explore(options: options, describe)
            guard report.coverage == .all, !agrees(with: report) else { return nil }
            let found = Prediction.outcomes(of: report)
            return "program \(name)\n\(reduction ? "reduced: " : "")"
                + "only the lab \(found.subtracting(outcomes)), "
                + "only the model \(outcomes.subtracting(found)), \(report.summary)"
        }
    }

    private func agrees(with report: Exploration) -> Bool {
        let hasRace = report.findings.contains { $0.kind == .dataRace || $0.kind == .overlap }
        return report.inconclusive == nil && Prediction.outcomes(of: report) == outcomes
            && races.contains(hasRace)
    }

    private static func outcomes(of report: Exploration) -> Set<String> {
        let isStuck = report.findings.contains { [.deadlock, .livelock].contains($0.kind) }
        return Set(report.outcomes.keys).union(isStuck ? [deadlock] : [])
    }
}
