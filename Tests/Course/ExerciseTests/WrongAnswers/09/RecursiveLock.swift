// Rejected: E09.1 called under a lock
// Observers are called under a recursive lock, which keeps all other threads out.

import Foundation
import Stage3ThreadSafe

private final class Box<Value: Sendable> {
    private let lock = NSRecursiveLock()
    private var resolver: Resolver<Value>?

    init(_ resolver: Resolver<Value>) {
        self.resolver = resolver
    }

    func settle(_ outcome: Result<Value, any Error>) {
        lock.lock()
        defer { lock.unlock() }
        let resolver = resolver
        self.resolver = nil
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
