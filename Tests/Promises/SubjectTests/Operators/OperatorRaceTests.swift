import PromiseOperators
import RaceLab
import RaceLabTesting
import Testing

/// Operators that the catalogue does not cover, and nested operators.
enum OperatorScenarios {
    static func reduce(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let ends = ends(of: AWPromise.reduce(0, [first, second], on: here) { 10 * $0 + $1 })
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.fulfill(2) }
        scenario.check {
            try Scenario.require(ends.entries == ["fulfilled 12"], "ends: \(ends.entries)")
        }
    }

    /// The second attempt begins during a cancellation. It settles, and leaves no timer.
    static func retryOrCancel(_ scenario: Scenario) {
        let clock = ManualClock()
        let source = CancellationSource()
        let token = source.token
        let retried = AWPromise<Int>.retry(attempts: 2, clock: clock, on: here) { number in
            try token.throwIfCancelled()
            return number < 2 ? .rejected(Trouble.here) : .fulfilled(number)
        }
        let ends = ends(of: retried.cancelled(by: token))
        scenario.thread("time") { clock.advance(by: .seconds(1)) }
        scenario.thread("canceller") { source.cancel() }
        scenario.check { try requireOneEnd(ends, clock) }
        scenario.outcome { "\(ends.entries)" }
    }

    /// Three threads try to settle one promise in different ways.
    static func timeoutSettleOrCancel(_ scenario: Scenario) {
        let clock = ManualClock()
        let source = CancellationSource()
        let (promise, resolver) = AWPromise<Int>.pending()
        let ends = ends(
            of: promise.timeout(after: .seconds(1), clock: clock).cancelled(by: source.token))
        scenario.thread("time") { clock.advance(by: .seconds(1)) }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.thread("canceller") { source.cancel() }
        scenario.check { try requireOneEnd(ends, clock) }
        scenario.outcome { "\(ends.entries)" }
    }

    /// One thread cancels the top of a diamond of links, another thread cancels its left side.
    static func diamond(_ scenario: Scenario) {
        let calls = Scenario.Log<String>()
        let top = CancellationSource()
        let left = CancellationSource(linkedTo: top.token)
        let right = CancellationSource(linkedTo: top.token)
        let bottom = CancellationSource(linkedTo: left.token, right.token)
        bottom.token.observe(on: here) { calls.append("cancelled") }
        scenario.thread("top") { top.cancel() }
        scenario.thread("left") { left.cancel() }
        scenario.check {
            try Scenario.require(right.token.isCancelled, "the right one is not cancelled")
            try Scenario.require(bottom.token.isCancelled, "the bottom is not cancelled")
            try Scenario.require(calls.entries == ["cancelled"], "called: \(calls.entries)")
        }
    }

    static func waitOrSettle(_ scenario: Scenario) {
        let (promise, resolver) = AWPromise<Int>.pending()
        let values = Scenario.Log<Int?>()
        scenario.thread("waiter") { values.append(try? promise.wait()) }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.check { try Scenario.require(values.entries == [1], "values: \(values.entries)") }
    }

    private static func requireOneEnd(_ ends: Scenario.Log<String>, _ clock: ManualClock) throws {
        try Scenario.require(ends.entries.count == 1, "ends: \(ends.entries)")
        try Scenario.require(clock.waiting == 0, "a timer is left behind")
    }
}

@Suite("Operators, several threads", .needsTheLab)
struct OperatorRaceTests {
    @Test("reduce: fulfill ∥ fulfill")
    func reduce() {
        expectSurvival(OperatorScenarios.reduce)
    }

    @Test("retry ∥ cancel")
    func retryOrCancel() {
        let exploration = expectSurvival(OperatorScenarios.retryOrCancel)
        let ends = ["[\"fulfilled 2\"]", "[\"rejected CancellationError()\"]"]
        #expect(Set(exploration.outcomes.keys) == Set(ends))
    }

    @Test("timeout ∥ fulfill ∥ cancel")
    func timeoutSettleOrCancel() {
        let exploration = expectSurvival(sample: 2, OperatorScenarios.timeoutSettleOrCancel)
        #expect(exploration.outcomes.count == 3, "\(exploration.outcomes)")
    }

    @Test("tokens linked in a diamond: cancel ∥ cancel")
    func diamond() {
        expectSurvival(OperatorScenarios.diamond)
    }

    @Test("wait ∥ fulfill")
    func waitOrSettle() {
        expectSurvival(OperatorScenarios.waitOrSettle)
    }
}
