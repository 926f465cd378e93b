import PromiseOperators
import RaceLab

// Two threads compete for the outcome of a promise.

struct R16: OperatorRace {
    let id = "R16"
    let name = "race, any, timeout, cancel"
    let title = "Two events compete, and only one may win"
    let story =
        "One thread settles a promise while another wins the race, advances the clock, or "
        + "cancels. Exactly one of them wins, and no timer remains."

    var scenarios: [@Sendable (Scenario) -> Void] {
        [race, anyWithOneValue, anyWithoutValue, timeoutOrSettle, timeoutWhileSettling, cancel]
    }

    private func race(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let race = AWPromise.race([first, second])
        scenario.thread("first") { firstResolver.fulfill(1) }
        scenario.thread("second") { secondResolver.reject(Sent("no")) }
        scenario.requireOneEnd(
            Ends(of: race),
            ["fulfilled 1": "the first came first", "rejected 'no'": "the second came first"])
        scenario.state("race") { SharedSuite.describe(race.result) }
    }

    /// The value wins, early or late.
    private func anyWithOneValue(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let ends = Ends(of: AWPromise.any([first, second]))
        scenario.thread("rejecter") { firstResolver.reject(Sent("no")) }
        scenario.thread("fulfiller") { secondResolver.fulfill(2) }
        scenario.check { try ends.requireOnly("fulfilled 2") }
    }

    /// The last thread rejects the promise with both errors.
    private func anyWithoutValue(_ scenario: Scenario) {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let ends = Ends(of: AWPromise.any([first, second]))
        scenario.thread("first") { firstResolver.reject(Sent("one")) }
        scenario.thread("second") { secondResolver.reject(Sent("two")) }
        scenario.check { try ends.requireOnly("rejected ['one', 'two']") }
    }

    private func timeoutOrSettle(_ scenario: Scenario) {
        let clock = ManualClock()
        let (promise, resolver) = AWPromise<Int>.pending()
        let limited = promise.timeout(after: .seconds(1), clock: clock)
        scenario.thread("time") { clock.advance(by: .seconds(1)) }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.check { try require(clock.waiting == 0, or: .keptAlive) }
        scenario.requireOneEnd(
            Ends(of: limited),
            ["fulfilled 1": "the value came in time", "rejected timedOut": "the time was up"])
    }

    /// The time-out is requested while another thread settles the promise.
    private func timeoutWhileSettling(_ scenario: Scenario) {
        let clock = ManualClock()
        let (promise, resolver) = AWPromise<Int>.pending()
        let ends = Ends()
        scenario.thread("subscriber") {
            ends.observe(promise.timeout(after: .seconds(1), clock: clock))
        }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.check {
            try ends.requireOnly("fulfilled 1")
            try require(clock.waiting == 0, or: .keptAlive)
        }
    }

    private func cancel(_ scenario: Scenario) {
        let source = CancellationSource()
        let (promise, resolver) = AWPromise<Int>.pending()
        let cancelled = promise.cancelled(by: source.token)
        scenario.thread("canceller") { source.cancel() }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.requireOneEnd(
            Ends(of: cancelled),
            [
                "fulfilled 1": "the value came first",
                "rejected CancellationError()": "it was cancelled first",
            ])
    }
}

struct R19: OperatorRace {
    let id = "R19"
    let name = "cancel ∥ observe the token"
    let title = "An observer is registered while an operation is cancelled"
    let story =
        "One thread cancels while another registers an observer of the token. Early or late, "
        + "the observer must be called, once; also when two threads cancel linked tokens."

    var scenarios: [@Sendable (Scenario) -> Void] { [cancelOrObserve, cancelTwice] }

    private func cancelOrObserve(_ scenario: Scenario) {
        let log = Scenario.Log<Call>()
        let source = CancellationSource()
        let token = source.token
        token.tell("early observer", log)
        scenario.thread("canceller") { source.cancel() }
        scenario.thread("observer") { token.tell("late observer", log) }
        scenario.check {
            try log.requireOnce("early observer", "late observer")
            try require(log.entries[0].who == "early observer", or: .outOfOrder)
        }
        scenario.state("token") { token.isCancelled ? "cancelled" : "-" }
    }

    /// Both parents of a linked source are cancelled; only its token is alive.
    private func cancelTwice(_ scenario: Scenario) {
        let log = Scenario.Log<Call>()
        let (first, second) = (CancellationSource(), CancellationSource())
        let linked = CancellationSource(linkedTo: first.token, second.token).token
        linked.tell("observer", log)
        scenario.thread("first") { first.cancel() }
        scenario.thread("second") { second.cancel() }
        scenario.check {
            try require(linked.isCancelled, or: .lost)
            try log.requireOnce("observer")
        }
    }
}

extension CancellationToken {
    fileprivate func tell(_ who: String, _ log: Scenario.Log<Call>) {
        observe(on: ImmediateDispatcher()) { log.append(Call(who: who, what: "cancelled")) }
    }
}
