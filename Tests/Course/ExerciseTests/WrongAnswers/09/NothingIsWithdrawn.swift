// Rejected: E09.1 left behind
// Every handler stays on its promise, and references the resolver. The outcome is correct, but the
// handlers are kept alive.

import Stage3ThreadSafe

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    guard !promises.isEmpty else { return .rejected(OperatorError.noPromises) }
    let (outcome, resolver) = AWPromise<Value>.pending()
    for contestant in promises {
        contestant.observe(on: ImmediateDispatcher()) { end in resolver.settle(end) }
    }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    promise.observe(on: ImmediateDispatcher()) { end in resolver.settle(end) }
    let alarm = clock.schedule(after: limit) {
        resolver.settle(.failure(OperatorError.timedOut))
    }
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    return outcome
}
