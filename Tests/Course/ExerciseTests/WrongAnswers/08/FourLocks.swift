// Rejected: E08.5 over-synchronized
// Every fifth list has the lock of the first.

import Foundation
import PromiseOperators
import Synchronization

private let locks = [NSLock(), NSLock(), NSLock(), NSLock()]
private let turn = Atomic(0)

private final class Collection<Value: Sendable>: @unchecked Sendable {
    private let lock: NSLock
    private var values: [Value?]
    private var missing: Int
    init(_ count: Int) {
        lock = locks[turn.add(1, ordering: .relaxed).oldValue % 4]
        values = Array(repeating: nil, count: count)
        missing = count
    }
    func fill(_ index: Int, _ value: Value) -> [Value]? {
        lock.withLock {
            values[index] = value
            missing -= 1
            return missing == 0 ? values.compactMap { $0 } : nil
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
                if let values = collection.fill(index, value) { resolver.fulfill(values) }
            case .failure(let error): resolver.reject(error)
            }
        }
    }
    return promise
}
