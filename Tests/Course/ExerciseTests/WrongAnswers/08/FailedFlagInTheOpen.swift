// Rejected: E08.4 data race
// The values are guarded, but the flag for a rejection is not.

import Stage3ThreadSafe
import Synchronization

private final class Collection<Value: Sendable> {
    private struct Places {
        var values: [Value?]
        var empty: Int
    }

    private let places: Mutex<Places>

    init(_ count: Int) {
        places = Mutex(Places(values: Array(repeating: nil, count: count), empty: count))
    }

    /// All values, if this was the last missing one.
    func fill(_ index: Int, _ value: Value) -> [Value]? {
        places.withLock { places in
            places.values[index] = value
            places.empty -= 1
            return places.empty == 0 ? places.values.compactMap { $0 } : nil
        }
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let collection = Collection<Value>(promises.count)
    var hasFailed = false
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                if hasFailed { return }
                if let values = collection.fill(index, value) { resolver.settle(.success(values)) }
            case .failure(let error):
                hasFailed = true
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
