// Rejected: E08.1 abandoned
// An empty list has no last promise, so its resolver is freed unused.

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
    for part in promises {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .failure(let error):
                resolver.settle(.failure(error))
            case .success:
                guard remaining.reachesZero() else { return }
                resolver.settle(Result { try promises.map { try $0.result!.get() } })
            }
        }
    }
    return promise
}
