// Rejected: E09.6 data race
// The observations are collected in an array without a lock. The winner withdraws them while others
// are still being added.

import Stage3ThreadSafe

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    guard !promises.isEmpty else { return .rejected(OperatorError.noPromises) }
    let (outcome, resolver) = AWPromise<Value>.pending()
    var observations: [Observation] = []
    for contestant in promises {
        let observation = contestant.observe(on: ImmediateDispatcher()) { end in
            guard resolver.settle(end) else { return }
            for observation in observations { observation.withdraw() }
        }
        observations.append(observation)
    }
    if outcome.result != nil {
        for observation in observations { observation.withdraw() }
    }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    let observation = promise.observe(on: ImmediateDispatcher()) { end in resolver.settle(end) }
    outcome.observe(on: ImmediateDispatcher()) { _ in observation.withdraw() }
    let alarm = clock.schedule(after: limit) {
        resolver.settle(.failure(OperatorError.timedOut))
    }
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    return outcome
}
