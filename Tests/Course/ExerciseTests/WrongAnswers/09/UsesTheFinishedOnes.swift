// Rejected: refused
// Uses the operators of Stage 3 through an extension that hides their type. (Cheats.)

import Stage3ThreadSafe

extension AWPromise {
    static func mine(_ promises: [AWPromise<Value>]) -> AWPromise<Value> { race(promises) }

    func mine(_ limit: Duration, _ clock: any PromiseClock) -> AWPromise<Value> {
        timeout(after: limit, clock: clock)
    }
}

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    .mine(promises)
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    promise.mine(limit, clock)
}
