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
    /// Most others do not notice barriers that exclude nobody, work that does not see what its sender
    /// did before, and notifications that come too early.
    private static let telling = [72, 103, 163]

    @Test(
        "on random programs",
        arguments: (0..<60).sample(10).map { $0 * 10..<$0 * 10 + 10 } + telling.map { $0..<$0 + 1 })
    func randomPrograms(numbers: Range<Int>) {
        let disagreements = numbers.flatMap { Self.disagreements($0) }
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

    /// Where the lab disagrees with the model on a program, with and without reduction.
    private static func disagreements(_ number: Int, faults: UInt32 = 0) -> [String] {
        let program = RandomQueueProgram(seed: UInt64(number))
        let model = QueueModel(program)
        // A time-out creates no happens-before edge, nor does an attempt that fails.
        let races: Set = [model.hasRace, QueueModel(program, isLoose: true).hasRace]
        return [false, true].compactMap { reduction in
            let options = Exploration.Options.with {
                $0.reduction = reduction
                $0.maximumInterleavings = 300
                $0.faults = faults
                // In the model each load reads the latest store. For old values there is another
                // one.
                $0.memory = .sequentiallyConsistent
            }
            let exploration = explore(options: options, program.describe)
            guard exploration.coverage == .all else { return nil }
            let kinds = exploration.findings.map(\.kind)
            let isStuck = kinds.contains { [.deadlock, .livelock].contains($0) }
            let found = Set(exploration.outcomes.keys).union(isStuck ? [QueueModel.deadlock] : [])
            let hasRace = kinds.contains { [.dataRace, .overlap].contains($0) }
            let agrees =
                exploration.inconclusive == nil && found == model.outcomes
                && races.contains(hasRace)
            return agrees
                ? nil
                : "program \(number):\n\(program)\n\(reduction ? "reduced: " : "")"
                    + "only the lab \(found.subtracting(model.outcomes)), "
                    + "only the model \(model.outcomes.subtracting(found)), \(exploration.summary)"
        }
    }
}
