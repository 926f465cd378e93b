import Models
import RaceLab

extension Prediction {
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
            // In the model each load reads the latest store. For old values there is another one.
            options.memory = .sequentiallyConsistent
            let exploration = explore(options: options, describe)
            guard exploration.coverage == .all, !agrees(with: exploration) else { return nil }
            let found = Prediction.outcomes(of: exploration)
            return "program \(name)\n\(reduction ? "reduced: " : "")"
                + "only the lab \(found.subtracting(outcomes)), "
                + "only the model \(outcomes.subtracting(found)), \(exploration.summary)"
        }
    }

    private func agrees(with exploration: Exploration) -> Bool {
        let hasRace = exploration.findings.contains { $0.kind == .dataRace || $0.kind == .overlap }
        return exploration.inconclusive == nil && Prediction.outcomes(of: exploration) == outcomes
            && races.contains(hasRace)
    }

    private static func outcomes(of exploration: Exploration) -> Set<String> {
        let isStuck = exploration.findings.contains { [.deadlock, .livelock].contains($0.kind) }
        return Set(exploration.outcomes.keys).union(isStuck ? [deadlock] : [])
    }
}
