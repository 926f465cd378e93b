// Rejected: E09.6 kept alive
// Whether the promise is pending is checked before the alarm is set, and may be out of date
// afterwards.

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

private final class Alarm {
    private let alarm = Mutex<ClockAlarm?>(nil)

    func set(_ new: ClockAlarm) { alarm.withLock { $0 = new } }

    func cancel() { alarm.withLock { $0 }?.cancel() }
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (outcome, resolver) = AWPromise<Value>.pending()
    let alarm = Alarm()
    resolver.watch(promise, of: outcome)
    outcome.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    if outcome.result == nil {
        alarm.set(
            clock.schedule(after: limit) {
                resolver.settle(.failure(OperatorError.timedOut))
            })
    }
    return outcome
}
