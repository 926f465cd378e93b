// Each thread writes to its own place; the atomic counter orders these writes before the last
// thread reads them.

import PromiseOperators
import Synchronization

private final class Place<Value>: @unchecked Sendable {
    var value: Value?
}

private final class Collection<Value: Sendable>: @unchecked Sendable {
    private let places: [Place<Value>]
    private let empty: Atomic<Int>

    init(_ count: Int) {
        places = (0..<count).map { _ in Place() }
        empty = Atomic(count)
    }

    /// All values, if this was the last missing one.
    func fill(_ index: Int, _ value: Value) -> [Value]? {
        places[index].value = value
        guard empty.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return nil }
        return places.compactMap(\.value)
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
