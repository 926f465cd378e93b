// An atomic counts down, and tells one observer that it is the last. The values are read from the
// promises.

import PromiseOperators
import Synchronization

private final class Remaining {
    private let count: Atomic<Int>

    init(_ count: Int) {
        self.count = Atomic(count)
    }

    /// Counts down, and returns whether this was the last.
    func reachesZero() -> Bool {
        count.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let remaining = Remaining(promises.count)
    if promises.isEmpty { resolver.fulfill([]) }
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
