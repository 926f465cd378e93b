import CRaceLab
@_spi(Testing) import RaceLab
import StageTesting
import Testing

/// The other family of random programs, see ``ModelTests``: with threads that start others, queues
/// of Dispatch, a recursive lock, and waiting that comes to an end.
@Suite("The lab agrees with a model of queues", .needsTheLab)
struct QueueModelTests {
    @Test("on random programs with queues, started threads and time limits", arguments: 0..<30)
    func randomPrograms(block: Int) {
        let disagreements = disagreements(block)
        #expect(disagreements.isEmpty, "\(disagreements.joined(separator: "\n"))")
    }

    @Test(
        "and would not if the lab had a fault",
        arguments: [
            RL_FAULT_NO_EARLY_ATTEMPTS, RL_FAULT_SKIP_LAST_ALTERNATIVE,
            RL_FAULT_NO_EDGE_FROM_UNLOCK,
        ])
    func notices(fault: Int) {
        #expect((0..<30).contains { !disagreements($0, faults: UInt32(fault)).isEmpty })
    }

    /// On which programs of a block the lab and the model do not agree.
    private func disagreements(_ block: Int, faults: UInt32 = 0) -> [String] {
        ((block * 10)..<(block * 10 + 10)).flatMap { seed in
            let program = RandomQueueProgram(seed: UInt64(seed))
            let model = QueueModel(program)
            // Time that is up orders nothing, nor does an attempt that fails.
            let races = [model.hasRace, QueueModel(program, isLoose: true).hasRace]
            return Prediction(outcomes: model.outcomes, races: Set(races))
                .disagreements(
                    on: "program \(seed)", faults: faults, upTo: 300, program.describe
                )
                .map { "\($0)\n\(program)" }
        }
    }
}
