// Rejected: E09.6 wrong value
// It looks at the promises one after the other, and the later one may have settled meanwhile.

import PromiseOperators
import Synchronization

// settled ones first: no handler is registered at all then
public func winner<Value>(of promises: [AWPromise<Value>]) -> AWPromise<Value> {
    guard let _ = promises.first else { return .rejected(OperatorError.noPromises) }
    for p in promises {
        switch p.result {
        case .success(let v)?: return .fulfilled(v)
        case .failure(let e)?: return .rejected(e)
        case nil: continue
        }
    }
    let (result, resolver) = AWPromise<Value>.pending()
    for p in promises {
        let o = p.observe(on: ImmediateDispatcher()) { resolver.settle($0) }
        result.observe(on: ImmediateDispatcher()) { _ in o.withdraw() }
    }
    return result
}

public func withTimeout<Value>(
    _ promise: AWPromise<Value>, after limit: Duration, on clock: any PromiseClock
) -> AWPromise<Value> {
    // already settled: no alarm is needed
    guard promise.result == nil else { return promise }
    let (result, resolver) = AWPromise<Value>.pending()
    let o = promise.observe(on: ImmediateDispatcher()) { resolver.settle($0) }
    result.observe(on: ImmediateDispatcher()) { _ in o.withdraw() }
    let alarm = clock.schedule(after: limit) { resolver.reject(OperatorError.timedOut) }
    result.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
    return result
}
