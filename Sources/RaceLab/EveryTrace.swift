import CRaceLab

/// Runs a scenario under every interleaving and passes each one, step by step, to `visit`, for maps
/// and statistics of one's own. It takes several times as long as ``explore(options:_:)``, because
/// the state is read after every step.
///
/// - Parameter visit: returns `false` to stop.
/// - Returns: whether everything was visited that `options` allows. It was not if `visit` stopped, or
///   if a bound of the options was reached.
/// - Throws: ``Obstacle`` if the lab cannot work or meets something that it cannot control.
public func visitTraces(
    options: Options = Options(), _ describe: @escaping (Scenario) -> Void,
    _ visit: @escaping (Trace) -> Bool
) throws -> Bool {
    try Explorer(options, describe).visitTraces(visit)
}

extension Explorer {
    fileprivate func visitTraces(_ visit: @escaping (Trace) -> Bool) throws -> Bool {
        var initial: [String] = []
        var states: [Int: [String]] = [:]
        var hasStopped = false
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
            hasStopped = !visit(trace)
            return !hasStopped
        }
        let summary = run()
        if let found = found ?? obstacle ?? obstacle(after: summary) { throw found }
        return !hasStopped && summary.status == RL_COMPLETE && summary.bound == RL_NO_BOUND
            && !summary.preemption_bound_reached
    }
}
