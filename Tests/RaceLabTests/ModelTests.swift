import CRaceLab
@_spi(Testing) import RaceLab
import StageTesting
import Testing

/// Random programs, run by the lab and by a model of some lines, in which everything is a step of
/// its own, the release of a lock included. Both have to come to the same outcomes, deadlocks and
/// data races.
@Suite("The lab agrees with a model", .needsTheLab)
struct ModelTests {
    @Test("on random programs with locks, attempts, conditions and atomics", arguments: 0..<60)
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
        #expect((0..<40).contains { !disagreements($0, faults: UInt32(fault)).isEmpty })
    }

    /// On which programs of a block the lab and the model do not agree.
    private func disagreements(_ block: Int, faults: UInt32 = 0) -> [String] {
        ((block * 10)..<(block * 10 + 10)).flatMap { seed in
            let program = RandomProgram(seed: UInt64(seed))
            let model = Model(program)
            // A signal orders nothing: the one who wakes may have been woken for no reason.
            let races = [model.hasRace, Model(program, wakesForNoReason: true).hasRace]
            return Prediction(outcomes: model.outcomes, races: Set(races))
                .disagreements(on: "program \(seed)", faults: faults, program.describe)
                .map { "\($0)\n\(program)" }
        }
    }
}
