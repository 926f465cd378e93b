// Rejected: E08.1 abandoned
// The values are stored by the identity of their promises, so a promise that occurs twice counts
// once.

import Foundation
import Stage3ThreadSafe

private final class Collection<Value: Sendable> {
    private let lock = NSLock()
    private var values: [ObjectIdentifier: Value] = [:]

    func add(_ value: Value, of part: AWPromise<Value>) -> [ObjectIdentifier: Value] {
        lock.withLock {
            values[ObjectIdentifier(part)] = value
            return values
        }
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let collection = Collection<Value>()
    for part in promises {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                let values = collection.add(value, of: part)
                guard values.count == promises.count else { return }
                resolver.settle(.success(promises.map { values[ObjectIdentifier($0)]! }))
            case .failure(let error):
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
