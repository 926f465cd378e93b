// Rejected: E08.4 not settled
// The pending promises are counted before they are observed. A promise that settles in between was
// counted, but is not observed.

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
    for part in promises {
        if case .failure(let error) = part.result { return .rejected(error) }
    }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let pending = promises.count { $0.result == nil }
    if pending == 0 { resolver.settle(Result { try promises.map { try $0.result!.get() } }) }
    let remaining = Remaining(pending)
    for part in promises where part.result == nil {
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
