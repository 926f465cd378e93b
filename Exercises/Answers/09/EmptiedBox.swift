// All handlers share a box that holds the resolver. The winner takes it out, and the others find
// the box empty. The timeout is a race with a promise that the clock rejects.

import PromiseOperators
import Synchronization

private final class Box<Value: Sendable> {
    private let resolver: Mutex<Resolver<Value>?>

    init(_ resolver: Resolver<Value>) {
        self.resolver = Mutex(resolver)
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
    let box = Box(resolver)
    if promises.isEmpty { box.settle(.failure(OperatorError.noPromises)) }
    let observations = promises.map { contestant in
        contestant.observe(on: ImmediateDispatcher()) { end in box.settle(end) }
    }
    // The promises that have lost release their handlers.
    outcome.observe(on: ImmediateDispatcher()) { _ in
        for observation in observations { observation.withdraw() }
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
