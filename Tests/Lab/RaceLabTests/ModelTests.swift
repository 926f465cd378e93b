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
    /// The kinds of instructions in the programs of a family.
    enum Family: CaseIterable {
        /// Locks that are attempted, conditions, semaphores and atomics: ``RandomProgram``.
        case locks
        /// Queues of Dispatch, threads that start others, a recursive lock, and waiting with a
        /// time-out: ``RandomQueueProgram``.
        case queues
    }

    @Test("on random programs", arguments: Family.allCases, (0..<60).sample(6))
    func randomPrograms(of family: Family, block: Int) {
        let disagreements = ((block * 10)..<(block * 10 + 10)).flatMap {
            Self.disagreements(family, $0)
        }
        #expect(disagreements.isEmpty, "\(disagreements.joined(separator: "\n"))")
    }

    /// `first` is the program to try first: one that notices the fault.
    @Test(
        "and would not agree if the lab had a fault",
        arguments: [
            (Family.locks, fault: RL_FAULT_NO_EARLY_ATTEMPTS, first: 8),
            (.locks, fault: RL_FAULT_SKIP_LAST_ALTERNATIVE, first: 1),
            (.locks, fault: RL_FAULT_NO_EDGE_FROM_UNLOCK, first: 169),
            (.queues, fault: RL_FAULT_NO_EARLY_ATTEMPTS, first: 180),
            (.queues, fault: RL_FAULT_SKIP_LAST_ALTERNATIVE, first: 20),
            (.queues, fault: RL_FAULT_NO_EDGE_FROM_UNLOCK, first: 20),
        ])
    func notices(family: Family, fault: Int, first: Int) {
        let isNoticed = [first..<400, 0..<first].joined().contains {
            !Self.disagreements(family, $0, faults: UInt32(fault)).isEmpty
        }
        #expect(isNoticed)
    }

    @Test("and would not agree if atomic operations ignored their memory orderings")
    func noticesOrderings() {
        let fault = UInt32(RL_FAULT_EVERY_ATOMIC_ORDERS)
        #expect((0..<200).contains { !Self.disagreements(.locks, $0, faults: fault).isEmpty })
    }

    /// On what the lab and the model disagree in a program.
    private static func disagreements(
        _ family: Family, _ number: Int, faults: UInt32 = 0
    ) -> [String] {
        let seed = UInt64(number)
        switch family {
        case .locks:
            let program = RandomProgram(seed: seed)
            return Prediction(program)
                .disagreements(on: "\(number):\n\(program)", faults: faults, program.describe)
        case .queues:
            let program = RandomQueueProgram(seed: seed)
            return Prediction(program)
                .disagreements(
                    on: "\(number):\n\(program)", faults: faults, upTo: 300, program.describe)
        }
    }
}

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
