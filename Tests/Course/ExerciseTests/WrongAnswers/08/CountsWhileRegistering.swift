// Rejected: E08.1 wrong value
// Each promise is counted when it is observed. If it is already settled, the count returns to zero
// before the next promise is counted: the first appears to be the last.

import Foundation
import Stage3ThreadSafe

private final class Collection<Value: Sendable> {
    private let lock = NSLock()
    private var values: [Int: Value] = [:]
    private var missing = 0

    func expectOne() {
        lock.withLock { missing += 1 }
    }

    func fill(_ index: Int, _ value: Value) -> [Value]? {
        lock.withLock {
            values[index] = value
            missing -= 1
            return missing == 0 ? values.sorted { $0.key < $1.key }.map(\.value) : nil
        }
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let collection = Collection<Value>()
    for (index, part) in promises.enumerated() {
        collection.expectOne()
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
