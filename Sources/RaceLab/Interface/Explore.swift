/// Runs a scenario under every interleaving of its threads, those with the fewest preemptions
/// first.
///
/// ```swift
/// let exploration = explore { scenario in
///     let counter = Counter()
///     scenario.thread("first") { counter.increment() }
///     scenario.thread("second") { counter.increment() }
///     scenario.check { try Scenario.require(counter.value == 2, "an increment was lost") }
/// }
/// print(exploration.text())
/// ```
///
/// `scenario` is called once for each interleaving, on a thread of the lab, and says what to set
/// up, which threads there are and what must hold at the end. See ``Scenario``.
///
/// The threads are real and run one at a time. A switch can happen before every access to a
/// property of a class, a captured variable or a global; before a lock is taken, a condition or a
/// semaphore is waited for or signalled, work is sent to a queue or waited for, a thread is started
/// or joined; before an operation on an atomic; and before something is appended to a
/// ``Scenario/Log``. ``Scenario`` lists what the lab sees and what it does not. There is no switch
/// before a lock is released: what another thread does right before it could be done right after
/// it, unless it is an attempt to take the same lock. Such an attempt is made both ways, see
/// ``Exploration/Schedule``.
///
/// The call returns when everything has been explored or a bound is reached. It may be made from
/// any thread; explorations wait for one another.
///
/// - Parameters:
///   - options: how much is explored, and what counts as a failure.
///   - scenario: must not be isolated to an actor, since it runs on threads of the lab. A closure
///     written in a function of an actor, such as a `@MainActor` test, is isolated to it unless it
///     begins with `{ @Sendable scenario in`. One that is isolated is never called, and the
///     exploration is ``Exploration/Inconclusive/malformedScenario(_:)``.
public func explore(
    options: Exploration.Options = Exploration.Options(),
    _ scenario: @escaping @isolated(any) (Scenario) -> Void
) -> Exploration {
    let program = Program(options, scenario)
    return Exploration(of: program, program.explored())
}
