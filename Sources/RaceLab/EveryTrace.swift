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
        var found: Obstacle?
        wasSetUp = {
            Notes.start()
            states = [:]
            initial = self.scenario.columns.map { $0.read() }
        }
        stepped = { step in
            if !rl_lock_is_held() { states[step] = self.scenario.columns.map { $0.read() } }
        }
        judge = { run in
            let notes = Notes.stop()
            found = self.obstacle(of: run)
            guard found == nil, [RL_COMPLETE, RL_DEADLOCK].contains(run.status) else {
                return false
            }
            var trace = self.trace(run, initial: initial, states: states)
            trace.add(notes: notes)
            return visit(trace)
        }
        let summary = run()
        if let found = found ?? obstacle ?? obstacle(after: summary) { throw found }
    }
}
