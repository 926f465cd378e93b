// Rejected: E08.1 abandoned
// Only `then` is used, which ignores a rejected promise: the result stays pending forever.

import Stage3ThreadSafe
import Synchronization

private final class Remaining {
    private let count: Atomic<Int>

    init(_ count: Int) {
        self.count = Atomic(count)
    }

    func reachesZero() -> Bool {
        count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let remaining = Remaining(promises.count)
    if promises.isEmpty { resolver.fulfill([]) }
    for part in promises {
        part.then(on: ImmediateDispatcher()) { _ in
            guard remaining.reachesZero() else { return }
            resolver.settle(Result { try promises.map { try $0.result!.get() } })
        }
    }
    return promise
}
