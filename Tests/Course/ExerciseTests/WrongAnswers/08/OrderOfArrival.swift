// Rejected: E08.1 out of order
// The values are in the order of their arrival, as in freshOS/then.

import Stage3ThreadSafe
import Synchronization

private final class Collection<Value: Sendable> {
    private let values = Mutex<[Value]>([])

    func add(_ value: Value) -> [Value] {
        values.withLock { values in
            values.append(value)
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
                let values = collection.add(value)
                if values.count == promises.count { resolver.settle(.success(values)) }
            case .failure(let error):
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
