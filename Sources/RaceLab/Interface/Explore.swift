// What the lab offers: to explore a scenario, and to run it again under one interleaving.

/// Runs a scenario under every interleaving of its threads, those with the fewest switches first.
///
/// `describe` is called once for each interleaving, on a thread of the lab, and says what to set
/// up, which threads there are and what has to hold in the end. See ``Scenario``.
///
/// The threads are real and run one at a time. A switch can happen before every access to a
/// property of a class, a captured variable or a global; before a lock is taken, a condition or a
/// semaphore is waited for or signalled, work is sent to a queue or waited for, a thread is started
/// or joined; before an operation on an atomic; and before something is appended to a ``Log``.
/// Which of those there are, and what the lab does not see, is listed at ``Scenario``. Releasing a
/// lock is no such moment: what another thread does right before it could be done right after it,
/// unless it is an attempt to take the same lock. Such an attempt is made both ways, see ``Schedule``.
///
/// The call returns when everything has been explored or a bound is reached. It may be made from
/// any thread; explorations wait for one another.
public func explore(
    options: Options = Options(), _ describe: @escaping (Scenario) -> Void
) -> Report {
    switch options.isolation {
    case .none: Explorer(options, describe).report()
    case .childProcess: Isolated(options, describe).report()
    }
}

/// Runs a scenario under one interleaving and says what happened, step by step.
///
/// - Throws: ``Misfit`` if the schedule does not fit the scenario; ``Schedule/Malformed`` if the
///   text is no schedule; ``Obstacle`` if the lab cannot work, or there is nothing to run.
public func replay(
    _ schedule: String, options: Options = Options(),
    _ describe: @escaping (Scenario) -> Void
) throws -> Trace {
    if options.isolation == .childProcess { return try Isolated(options, describe).trace(schedule) }
    let explorer = Explorer(options, describe)
    return try explorer.replay(Schedule(schedule, threads: explorer.threadNames()))
}

/// Runs a scenario under one interleaving and says what happened, step by step.
///
/// - Throws: ``Misfit`` if the schedule does not fit the scenario; ``Obstacle`` if the lab cannot
///   work, or there is nothing to run.
public func replay(
    _ schedule: Schedule, options: Options = Options(),
    _ describe: @escaping (Scenario) -> Void
) throws -> Trace {
    options.isolation == .childProcess
        ? try Isolated(options, describe).trace(of: schedule)
        : try Explorer(options, describe).replay(schedule)
}

/// A schedule that does not fit the scenario.
public struct Misfit: Error, Hashable, Codable, Sendable, CustomStringConvertible {
    /// The first step that does not fit, counted from 1.
    public let step: Int
    /// Whether the thread whose turn it was has to wait for another one.
    public let isWaiting: Bool
    public let description: String
}
