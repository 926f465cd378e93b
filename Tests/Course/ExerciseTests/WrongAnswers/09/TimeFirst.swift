// Rejected: E09.6 wrong value
// The alarm is set before the promise is observed.

import PromiseOperators

private func bind<Value>(
    _ resolver: Resolver<Value>, to contestant: AWPromise<Value>, until outcome: AWPromise<Value>
) {
    let observation = contestant.observe(on: ImmediateDispatcher()) { resolver.settle($0) }
    outcome.observe(on: ImmediateDispatcher()) { _ in observation.withdraw() }
}

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    guard !promises.isEmpty else { return .rejected(OperatorError.noPromises) }
    let (outcome, resolver) = AWPromise<Value>.pending()
    for contestant in promises { bind(resolver, to: contestant, until: outcome) }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    if let result = promise.result { return AWPromise(result) }
    let (outcome, resolver) = AWPromise<Value>.pending()
    let alarm = clock.schedule(after: limit) { resolver.reject(OperatorError.timedOut) }
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    bind(resolver, to: promise, until: outcome)
    return outcome
}
