import CRaceLab

extension Explorer {
    /// What must be equal in every run of the first interleaving, whatever the process has
    /// initialized meanwhile.
    struct Beginning: Equatable {
        let failure: String?
        let outcome: String?
    }

    /// Compares the first run with one of the same interleaving that was not counted. Returns false
    /// if an earlier run has left state behind.
    func begins(_ run: rl_run, _ causes: [FindingKey]) -> Bool {
        guard run.status == RL_COMPLETE else { return true }
        let failure = causes.first { $0.kind == .failedCheck }?.reason
        let this = Beginning(failure: failure, outcome: outcome)
        defer { beginning = beginning ?? this }
        if let beginning, beginning != this {
            inconclusive = LikelyCause(run.places).inconclusive
            return false
        }
        return true
    }

    /// Examines a run for the search, see `rl_scenario.learn`.
    func learn(from run: UnsafePointer<rl_execution>) -> Bool {
        if search!.learn(from: run) { return true }
        if beginning == nil, first == nil, run.pointee.status == RL_COMPLETE {
            let failure = failedCheck()
            beginning = Beginning(
                failure: failure, outcome: failure == nil ? scenario.readOutcome?() : nil)
            scenario.letGo()
        }
        return false
    }
}
