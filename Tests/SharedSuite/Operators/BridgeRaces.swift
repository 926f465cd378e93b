import PromiseOperators
import RaceLab

/// A race on the bridge between promises and tasks. It runs where the lab can explore tasks; elsewhere
/// it is inconclusive.
public protocol BridgeRace: Race {}

extension BridgeRace {
    public var unavailable: String? { Exploration.unavailable ?? unavailableTasks }
}

struct R20: OperatorRace, BridgeRace {
    let id = "R20"
    let name = "a task awaits ∥ settle"
    let title = "A task waits for a promise while a thread settles it"
    let story =
        "A task awaits the value of a promise while a thread settles it. Early or late, the task "
        + "must receive the value or the error; also if the promise belongs to another task."

    var scenarios: [@Sendable (Scenario) -> Void] { [fulfilled, rejected, ofTask] }

    private func fulfilled(_ scenario: Scenario) {
        let (promise, resolver) = AWPromise<Int>.pending()
        let ends = Ends(receiver: "waiter")
        scenario.task("waiter") { await ends.await(promise) }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.check { try ends.requireOnly("fulfilled 1") }
        scenario.state("result") { SharedSuite.describe(promise.result) }
    }

    private func rejected(_ scenario: Scenario) {
        let (promise, resolver) = AWPromise<Int>.pending()
        let ends = Ends(receiver: "waiter")
        scenario.task("waiter") { await ends.await(promise) }
        scenario.thread("rejecter") { resolver.reject(Sent("no")) }
        scenario.check { try ends.requireOnly("rejected 'no'") }
    }

    /// In both directions: the work of a promise is a task, and another task awaits the promise.
    private func ofTask(_ scenario: Scenario) {
        let ends = Ends(receiver: "waiter")
        scenario.task("waiter") { await ends.await(AWPromise.task { 1 }) }
        scenario.check { try ends.requireOnly("fulfilled 1") }
    }
}

struct R21: OperatorRace, BridgeRace {
    let id = "R21"
    let name = "cancel the waiter ∥ settle"
    let title = "A waiting task is cancelled while the promise is fulfilled"
    let story =
        "A task awaits the value of a promise. It is cancelled while a thread fulfills the promise. "
        + "The task must receive the value or a CancellationError, once, and must not wait forever."

    var scenarios: [@Sendable (Scenario) -> Void] { [cancelTask, cancelToken] }

    private func cancelTask(_ scenario: Scenario) {
        let (promise, resolver) = AWPromise<Int>.pending()
        let ends = Ends(receiver: "waiter")
        scenario.thread("canceller") {
            let task = Task { await ends.await(promise) }
            task.cancel()
        }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.requireOneEnd(ends, valueOrCancellation)
        scenario.state("result") { SharedSuite.describe(promise.result) }
    }

    /// A token cancels the task behind a promise. The task awaits no other promise, which keeps the
    /// interleavings few.
    private func cancelToken(_ scenario: Scenario) {
        let source = CancellationSource()
        let ends = Ends()
        scenario.thread("starter") {
            ends.observe(
                AWPromise.task(cancelledBy: source.token) {
                    try Task.checkCancellation()
                    return 1
                })
        }
        scenario.thread("canceller") { source.cancel() }
        scenario.requireOneEnd(ends, valueOrCancellation)
    }

    private var valueOrCancellation: KeyValuePairs<String, String> {
        [
            "fulfilled 1": "the value came first",
            "rejected CancellationError()": "it was cancelled first",
        ]
    }
}

struct R22: OperatorRace, BridgeRace {
    let id = "R22"
    let name = "two tasks await one promise"
    let title = "Two tasks wait for one promise"
    let story =
        "Two tasks await the value of one promise, which a thread fulfills. Both must receive the "
        + "value, once."

    var scenarios: [@Sendable (Scenario) -> Void] { [both] }

    private func both(_ scenario: Scenario) {
        let (promise, resolver) = AWPromise<Int>.pending()
        let (first, second) = (Ends(receiver: "first"), Ends(receiver: "second"))
        scenario.task("first") { await first.await(promise) }
        scenario.task("second") { await second.await(promise) }
        scenario.thread("resolver") { resolver.fulfill(1) }
        scenario.check {
            try first.requireOnly("fulfilled 1")
            try second.requireOnly("fulfilled 1")
        }
        scenario.state("result") { SharedSuite.describe(promise.result) }
    }
}

extension Ends {
    /// Awaits a promise, and logs what it receives.
    fileprivate func await<Value>(_ promise: AWPromise<Value>) async {
        do {
            receive(.success(try await promise.value))
        } catch {
            receive(Result<Value, any Error>.failure(error))
        }
    }
}
