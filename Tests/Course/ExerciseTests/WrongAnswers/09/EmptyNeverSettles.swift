// Rejected: E09.1 not settled
// An empty race stays pending forever, as in JavaScript; here it must be an error.

import Stage3ThreadSafe

extension Resolver {
    /// Settles as `contestant` does, unless it is settled before, and withdraws when it is.
    fileprivate func watch(_ contestant: AWPromise<Value>, of outcome: AWPromise<Value>) {
        let here = ImmediateDispatcher()
        let observation = contestant.observe(on: here) { end in self.settle(end) }
        outcome.observe(on: here) { _ in observation.withdraw() }
    }
}

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    for contestant in promises {
        resolver.watch(contestant, of: outcome)
    }
    // Keeps it from being abandoned.
    outcome.observe(on: ImmediateDispatcher()) { _ in _ = resolver }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    resolver.watch(promise, of: outcome)
    let alarm = clock.schedule(after: limit) {
        resolver.settle(.failure(OperatorError.timedOut))
    }
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    return outcome
}
