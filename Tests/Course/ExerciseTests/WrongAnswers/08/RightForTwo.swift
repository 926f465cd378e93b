// Rejected: E08.4 abandoned
// A thread whose first attempt fails counts without protection: correct for two threads, but not
// for three.

import Stage3ThreadSafe
import Synchronization

private final class Count {
    let arrived = Atomic(0)
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let count = Count()
    if promises.isEmpty { resolver.fulfill([]) }
    for part in promises {
        part.observe(on: ImmediateDispatcher()) { outcome in
            if case .failure(let error) = outcome { _ = resolver.settle(.failure(error)); return }
            let before = count.arrived.load(ordering: .acquiring)
            let isAlone = count.arrived.compareExchange(
                expected: before, desired: before + 1, ordering: .acquiringAndReleasing
            ).exchanged
            // Another thread was faster: count again.
            let now =
                isAlone
                ? before + 1
                : {
                    let again = count.arrived.load(ordering: .acquiring)
                    count.arrived.store(again + 1, ordering: .releasing)
                    return again + 1
                }()
            if now == promises.count {
                resolver.settle(Result { try promises.map { try $0.result!.get() } })
            }
        }
    }
    return promise
}
