// Rejected: E09.6 kept alive
// A second limit for the same promise replaces the first one in the list of alarms.

import Stage3ThreadSafe
import Synchronization

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

private let clockAlarms = Mutex<[ObjectIdentifier: ClockAlarm]>([:])

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    resolver.watch(promise, of: outcome)
    let alarm = clock.schedule(after: limit) {
        resolver.settle(.failure(OperatorError.timedOut))
    }
    clockAlarms.withLock { $0[ObjectIdentifier(promise)] = alarm }
    promise.observe(on: ImmediateDispatcher()) { _ in
        clockAlarms.withLock { $0.removeValue(forKey: ObjectIdentifier(promise)) }?.cancel()
    }
    return outcome
}
