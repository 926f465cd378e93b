/// Runs a scenario under every interleaving of its threads. Of interleavings that differ only in
/// the order of independent steps, it runs one: see ``Exploration/Options/reduction``.
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
/// `scenario` is called at the beginning of each run, on a thread of the lab: at least once for
/// each interleaving. It sets up the objects and adds the threads and the checks. See ``Scenario``.
///
/// The threads are real and run one at a time. A switch can happen before each step, such as an
/// access to a property or an operation on a lock: see <doc:WhatTheLabSees>. There is no switch
/// before the release of a lock: a step of another thread right before the release has the same
/// effect right after it, unless it attempts to take the same lock. Such an attempt is explored in
/// both places: see ``Exploration/Schedule``.
///
/// The call returns when everything has been explored or a bound is reached. It may be made from
/// any thread; explorations wait for one another.
///
/// - Parameters:
///   - options: how much is explored, and what counts as a failure.
///   - scenario: must not be isolated to an actor, because it runs on threads of the lab. A closure
///     in a function of an actor, such as a `@MainActor` test, is isolated to that actor unless it
///     begins with `{ @Sendable scenario in`. An isolated closure is never called; the exploration
///     is then ``Exploration/Inconclusive/malformedScenario(_:)``.
public func explore(
    options: Exploration.Options = Exploration.Options(),
    _ scenario: @escaping @isolated(any) (Scenario) -> Void
) -> Exploration {
    let program = Program(options, scenario)
    return Exploration(of: program, program.explored())
}
