// Rejected: E08.4 abandoned
// Each step is locked. But if two threads check before either has written, neither finds that it is
// the last.

import Foundation
import Stage3ThreadSafe

private final class Collection<Value: Sendable> {
    private let lock = NSLock()
    private var values: [Int: Value] = [:]

    var count: Int { lock.withLock { values.count } }

    func write(_ value: Value, at index: Int) {
        lock.withLock { values[index] = value }
    }

    var inOrder: [Value] {
        lock.withLock { values.sorted { $0.key < $1.key }.map(\.value) }
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let collection = Collection<Value>()
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                let isLast = collection.count == promises.count - 1
                collection.write(value, at: index)
                if isLast { resolver.settle(.success(collection.inOrder)) }
            case .failure(let error):
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
