// Rejected: E09.6 kept alive
// The handler cancels the alarm through a variable that gets its value after the handler is
// registered.

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
    if promise.result != nil { return promise }
    let (outcome, resolver) = AWPromise<Value>.pending()
    var alarm: ClockAlarm?
    resolver.watch(promise, of: outcome)
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm?.cancel() }
    alarm = clock.schedule(after: limit) {
        resolver.settle(.failure(OperatorError.timedOut))
    }
    return outcome
}
