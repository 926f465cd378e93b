// Rejected: E08.4 wrong value
// The atomic is decremented before the value is written: the last thread may find a value missing.

import Foundation
import Stage3ThreadSafe
import Synchronization

private final class Collection<Value: Sendable> {
    private let missing: Atomic<Int>
    private let lock = NSLock()
    private var values: [Int: Value] = [:]

    init(_ count: Int) {
        missing = Atomic(count)
    }

    func fill(_ index: Int, _ value: Value) -> [Value]? {
        let isLast = missing.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
        return lock.withLock {
            values[index] = value
            return isLast ? values.sorted { $0.key < $1.key }.map(\.value) : nil
        }
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let collection = Collection<Value>(promises.count)
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                if let values = collection.fill(index, value) { resolver.settle(.success(values)) }
            case .failure(let error):
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
