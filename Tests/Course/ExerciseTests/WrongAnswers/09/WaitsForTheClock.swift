// Rejected: E09.4 not settled
// The value is kept until the time is over, and only then passed on.

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
    guard !promises.isEmpty else { return .rejected(OperatorError.noPromises) }
    let (outcome, resolver) = AWPromise<Value>.pending()
    for contestant in promises {
        resolver.watch(contestant, of: outcome)
    }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    _ = clock.schedule(after: limit) {
        resolver.settle(promise.result ?? .failure(OperatorError.timedOut))
    }
    return outcome
}
