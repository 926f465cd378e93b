import CRaceLab

/// Runs a scenario under every interleaving and passes each one, step by step, to `visit`, for maps
/// and statistics of one's own. It takes several times as long as ``explore(options:_:)``, because
/// the state is read after every step.
///
/// Like an exploration it ends at the bounds in `options`, without a word: ``explore(options:_:)``
/// reports how much there is.
///
/// - Parameter visit: returns `false` to stop.
/// - Throws: ``Obstacle`` if the lab cannot work or meets something that it cannot control.
public func visitTraces(
    options: Options = Options(), _ describe: @escaping (Scenario) -> Void,
    _ visit: @escaping (Trace) -> Bool
) throws {
    try Explorer(options, describe).visitTraces(visit)
}

extension Explorer {
    fileprivate func visitTraces(_ visit: @escaping (Trace) -> Bool) throws {
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
        var found: Obstacle?
        wasSetUp = {
            Notes.start()
            states = [:]
            touched = []
            initial = look() ?? self.scenario.columns.map { _ in Trace.locked }
        }
        stepped = { step in
            if let state = look() { states[step] = state }
        }
        judge = { run in
            let notes = Notes.stop()
            found = self.obstacle(of: run)
            guard found == nil, [RL_COMPLETE, RL_DEADLOCK].contains(run.status) else {
                return false
            }
            var trace = self.trace(run, initial: initial, states: states)
            trace.name(Objects(of: run), touched: touched)
            trace.add(notes: notes)
            return visit(trace)
        }
        let summary = run()
        if let found = found ?? obstacle ?? obstacle(after: summary) { throw found }
    }
}
