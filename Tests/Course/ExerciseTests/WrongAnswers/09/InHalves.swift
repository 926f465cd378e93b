// Rejected: E09.1 left behind
// Each half of the list has a race of its own, and the half that has lost is not told.

import PromiseOperators

public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    if promises.isEmpty { return .rejected(OperatorError.noPromises) }
    if promises.count == 1 { return promises[0] }
    let half = promises.count / 2
    let l = promises.count == 2 ? promises[0] : winner(of: Array(promises[..<half]))
    let r = promises.count == 2 ? promises[1] : winner(of: Array(promises[half...]))
    let (result, resolver) = AWPromise<Value>.pending()
    let a = l.observe(on: ImmediateDispatcher()) { resolver.settle($0) }
    let b = r.observe(on: ImmediateDispatcher()) { resolver.settle($0) }
    result.observe(on: ImmediateDispatcher()) { _ in
        a.withdraw(); b.withdraw()
    }
    return result
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    let (result, resolver) = AWPromise<Value>.pending()
    let observation = promise.observe(on: ImmediateDispatcher()) { resolver.settle($0) }
    let alarm = clock.schedule(after: limit) { resolver.reject(OperatorError.timedOut) }
    result.observe(on: ImmediateDispatcher()) { _ in
        observation.withdraw()
        alarm.cancel()
    }
    return result
}
