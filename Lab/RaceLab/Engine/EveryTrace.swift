import CRaceLab

extension Explorer {
    /// Passes the trace of every interleaving to `visit`, which returns `false` to stop.
    ///
    /// - Parameter startsOver: whether the engine starts over when it explores this scenario. Then
    ///   it does so before the first visit, so that no interleaving is visited twice.
    func visitTraces(
        startsOver: Bool, _ visit: @escaping (Exploration.Trace) -> Bool
    ) throws(Exploration.ReplayError) {
        rl_hold_explorations()
        defer { rl_release_explorations() }
        if startsOver {
            judge = { _ in true }
            _ = run()
        }
        var initial: [String] = []
        var states: [Int: [String]] = [:]
        var touched: [Set<UInt>] = []
        let look = {
            let observations = self.scenario.columns.map { Observation($0.read) }
            touched = observations.enumerated().map { column, seen in
                seen.touched.union(column < touched.count ? touched[column] : [])
            }
            return observations.texts
        }
        var found: Exploration.Inconclusive?
        wasSetUp = {
            Notes.start()
            states = [:]
            touched = []
            initial = look() ?? self.scenario.columns.map { _ in Exploration.Trace.locked }
        }
        stepped = { step in
            if let state = look() { states[step] = state }
        }
        judge = { run in
            let notes = Notes.stop()
            found = self.inconclusive(of: run)
            guard found == nil, [RL_COMPLETE, RL_DEADLOCK].contains(run.status) else {
                return false
            }
            var trace = self.trace(run, initial: initial, states: states, touched: touched)
            trace.add(notes: notes)
            return visit(trace)
        }
        let summary = run(continuing: startsOver)
        if let found = found ?? inconclusive ?? inconclusive(after: summary) {
            throw .inconclusive(found)
        }
    }
}
