/// A scenario and the options under which it runs.
///
/// It can be passed to any thread: only the lab calls the scenario, one run at a time.
struct Program: @unchecked Sendable {
    var options: Exploration.Options
    let describe: (Scenario) -> Void

    init(
        _ options: Exploration.Options,
        _ scenario: @escaping @isolated(any) (Scenario) -> Void
    ) {
        self.options = options
        if let actor = scenario.isolation {
            describe = { $0.isMistaken("the scenario", isIsolatedTo: actor, "scenario ") }
        } else {
            // The closure is not isolated, so it can be called like any other closure.
            describe = unsafeBitCast(scenario, to: ((Scenario) -> Void).self)
        }
    }

    func explored() -> ExplorationResult {
        if let isolated { return isolated.explored() }
        Families.probed()
        return Explorer(options, describe).explored()
    }

    /// An explorer for single interleavings, which report no progress.
    var explorer: Explorer {
        Families.probed()
        var options = options
        options.progress = nil
        return Explorer(options, describe)
    }

    /// An explorer that uses child processes; `nil` if the options do not ask for them.
    var isolated: Isolated? {
        guard case .childProcess(let timeLimit, let memoryLimit) = options.isolation else {
            return nil
        }
        return Isolated(options, timeLimit: timeLimit, memoryLimit: memoryLimit, describe)
    }
}
