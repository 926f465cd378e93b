import CRaceLab
import Models
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// Runs random programs in the lab and in a small model, in which everything is a separate step,
/// including the release of a lock. Both must find the same outcomes, the same deadlocks, and the
/// same data races.
@Suite("The lab agrees with a model", .needsTheLab)
struct ModelTests {
    @Test("on random programs", arguments: (0..<60).sample(10))
    func randomPrograms(block: Int) {
        let disagreements = ((block * 10)..<(block * 10 + 10)).flatMap { Self.disagreements($0) }
        #expect(disagreements.isEmpty, "\(disagreements.joined(separator: "\n"))")
    }

    /// `first` is the program to try first: one that notices the fault.
    @Test(
        "and would not agree if the lab had a fault",
        arguments: [
            (fault: RL_FAULT_NO_EARLY_ATTEMPTS, first: 184),
            (fault: RL_FAULT_SKIP_LAST_ALTERNATIVE, first: 20),
            (fault: RL_FAULT_NO_EDGE_FROM_UNLOCK, first: 20),
            (fault: RL_FAULT_LOCKS_ALWAYS_FREE, first: 20),
        ])
    func notices(fault: Int, first: Int) {
        let isNoticed = [first..<400, 0..<first].joined().contains {
            !Self.disagreements($0, faults: UInt32(fault)).isEmpty
        }
        #expect(isNoticed)
    }

    /// On what the lab and the model disagree in a program.
    private static func disagreements(_ number: Int, faults: UInt32 = 0) -> [String] {
        let program = RandomQueueProgram(seed: UInt64(number))
        return Prediction(program)
            .disagreements(on: "\(number):\n\(program)", faults: faults, program.describe)
    }
}

extension Prediction {
    /// Where the lab disagrees with the prediction, with and without reduction.
    func disagreements(
        on name: String, faults: UInt32 = 0, _ describe: @escaping (Scenario) -> Void
    ) -> [String] {
        [false, true].compactMap { reduction in
            var options = Exploration.Options()
            options.reduction = reduction
            options.maximumInterleavings = 300
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
