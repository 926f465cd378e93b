// Rejected: E09.1 left behind
// The handler on a promise that has lost keeps all other promises of the race alive.

import Stage3ThreadSafe
import Synchronization

private final class Box<Value: Sendable> {
    private let resolver: Mutex<Resolver<Value>?>
    private let promises: [AWPromise<Value>]

    init(_ resolver: Resolver<Value>, _ promises: [AWPromise<Value>]) {
        self.resolver = Mutex(resolver)
        self.promises = promises
    }

    func settle(_ outcome: Result<Value, any Error>) {
        let resolver = resolver.withLock { resolver in
            defer { resolver = nil }
            return resolver
        }
        resolver?.settle(outcome)
    }
}

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    let box = Box(resolver, promises)
    if promises.isEmpty { box.settle(.failure(OperatorError.noPromises)) }
    for contestant in promises {
        contestant.observe(on: ImmediateDispatcher()) { end in box.settle(end) }
    }
    return outcome
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (time, resolver) = AWPromise<Value>.pending()
    let alarm = clock.schedule(after: limit) { resolver.reject(OperatorError.timedOut) }
    let outcome = winner(of: [promise, time])
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    return outcome
}
