import CRaceLab

extension Explorer {
    /// Passes the trace of every interleaving to `visit`, which returns `false` to stop.
    ///
    /// - Parameter prefix: every interleaving begins with these steps; `nil`: with any.
    /// - Parameter startsOver: whether the engine starts over when it explores this scenario. Then
    ///   it does so before the first visit, so that no interleaving is visited twice.
    /// - Parameter continuing: whether what an earlier exploration has found out about reference
    ///   counts is used.
    func visitTraces(
        beginningWith prefix: Exploration.Schedule? = nil, startsOver: Bool,
        continuing: Bool = false, _ visit: @escaping (Exploration.Trace) -> Bool
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
            found = self.inconclusive(of: run)
            guard found == nil, [RL_COMPLETE, RL_DEADLOCK].contains(run.status) else {
                _ = Notes.stop()
                return false
            }
            var trace = self.trace(run, initial: initial, states: states, touched: touched)
            trace.add(notes: Notes.stop())
            return visit(trace)
        }
        let summary = run(
            prefix, andBeyond: prefix != nil, continuing: startsOver || continuing)
        if let found = found ?? inconclusive ?? inconclusive(after: summary) {
            throw .inconclusive(found)
        }
    }
}

/// Records interleavings of one scenario, with the order of their dependent steps: see
/// ``Exploration/Trace/Step/preceding``.
package final class Recorder {
    private let explorer: Explorer
    private let startsOver: Bool

    /// - Parameter exploration: what is known about the scenario.
    package init(_ exploration: Exploration) {
        explorer = exploration.program.explorer
        startsOver = exploration.result.startedOver
    }

    /// Passes one interleaving of each equivalence class to `visit`, which returns `false` to stop.
    package func visitKinds(
        _ visit: @escaping (Exploration.Trace) -> Bool
    ) throws(Exploration.ReplayError) {
        try explorer.visitTraces(startsOver: startsOver, visit)
    }

    /// An interleaving that begins with these steps; `nil` if there is none.
    package func interleaving(
        beginningWith steps: Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.Trace? {
        var found: Exploration.Trace?
        try explorer.visitTraces(beginningWith: steps, startsOver: false, continuing: true) {
            found = $0
            return false
        }
        return found
    }
}
