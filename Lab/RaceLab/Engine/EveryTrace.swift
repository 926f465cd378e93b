import CRaceLab

/// Records interleavings of one scenario, with the order of their dependent steps: see
/// ``Exploration/Trace/Step/preceding``. It runs in this process, whatever
/// ``Exploration/Options/isolation`` says.
package final class Recorder {
    private let explorer: Explorer
    /// Whether the engine starts over when it explores the scenario.
    private let startsOver: Bool

    /// - Parameter exploration: what is known about the scenario.
    package init(_ exploration: Exploration) {
        explorer = exploration.program.explorer
        startsOver = exploration.result.startedOver
    }

    /// An interleaving that begins with these steps; `nil` if there is none.
    package func interleaving(
        beginningWith steps: Exploration.Schedule
    ) throws(Exploration.ReplayError) -> Exploration.Trace? {
        var found: Exploration.Trace?
        try visitKinds(beginningWith: steps) {
            found = $0
            return false
        }
        return found
    }

    /// Passes one interleaving of each equivalence class to `visit`, which returns `false` to stop.
    /// If the options explore every order, it passes every interleaving. It ends at the same bounds
    /// as the exploration.
    ///
    /// - Parameter prefix: every interleaving begins with these steps; `nil`: with any.
    package func visitKinds(
        beginningWith prefix: Exploration.Schedule? = nil,
        _ visit: @escaping (Exploration.Trace) -> Bool
    ) throws(Exploration.ReplayError) {
        let explorer = explorer
        rl_hold_explorations()
        defer { rl_release_explorations() }
        if prefix == nil, startsOver {
            // It does so before the first visit, so that no interleaving is visited twice.
            // The checks, too, may show that it has to.
            _ = explorer.run { run in
                defer { Notes.stop() }
                _ = explorer.causes(of: run)
                return true
            }
        }
        let states = explorer.readStates()
        var found: Exploration.Inconclusive?
        let summary = explorer.run(prefix, andBeyond: prefix != nil, continuing: true) { run in
            defer { Notes.stop() }
            found = explorer.inconclusive(of: run)
            guard found == nil, [RL_COMPLETE, RL_DEADLOCK].contains(run.status) else {
                return false
            }
            return visit(explorer.trace(run, states))
        }
        if let found = found ?? explorer.inconclusive ?? explorer.inconclusive(after: summary) {
            throw .inconclusive(found)
        }
    }
}
