import CRaceLab
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// Random programs, run by the lab and by a model of some lines, in which everything is a step of
/// its own, the release of a lock included. Both have to come to the same outcomes, deadlocks and
/// data races.
@Suite("The lab agrees with a model", .needsTheLab)
struct ModelTests {
    /// What the programs of a family have that others have not.
    enum Family: CaseIterable {
        /// Locks that are attempted, conditions, semaphores and atomics: ``RandomProgram``.
        case locks
        /// Queues of Dispatch, threads that start others, a recursive lock, and waiting that comes
        /// to an end: ``RandomQueueProgram``.
        case queues
    }

    @Test("on random programs", arguments: Family.allCases, (0..<60).sample(6))
    func randomPrograms(of family: Family, block: Int) {
        let disagreements = Self.disagreements(family, block)
        #expect(disagreements.isEmpty, "\(disagreements.joined(separator: "\n"))")
    }

    @Test(
        "and would not if the lab had a fault", arguments: Family.allCases,
        [
            RL_FAULT_NO_EARLY_ATTEMPTS, RL_FAULT_SKIP_LAST_ALTERNATIVE,
            RL_FAULT_NO_EDGE_FROM_UNLOCK,
        ])
    func notices(family: Family, fault: Int) {
        let isNoticed = (0..<40).contains {
            !Self.disagreements(family, $0, faults: UInt32(fault)).isEmpty
        }
        #expect(isNoticed)
    }

    @Test("and would not if every atomic operation ordered what its memory ordering does not")
    func noticesOrderings() {
        let fault = UInt32(RL_FAULT_EVERY_ATOMIC_ORDERS)
        #expect((0..<20).contains { !Self.disagreements(.locks, $0, faults: fault).isEmpty })
    }

    /// On which programs of a block the lab and the model do not agree.
    private static func disagreements(
        _ family: Family, _ block: Int, faults: UInt32 = 0
    ) -> [String] {
        ((block * 10)..<(block * 10 + 10)).flatMap { number in
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
}

extension Prediction {
    init(_ program: RandomProgram) {
        let model = Model(program)
        self.init(outcomes: model.outcomes, races: [model.hasRace])
    }

    init(_ program: RandomQueueProgram) {
        let model = QueueModel(program)
        // Time that is up orders nothing, nor does an attempt that fails.
        let races = [model.hasRace, QueueModel(program, isLoose: true).hasRace]
        self.init(outcomes: model.outcomes, races: Set(races))
    }
}
