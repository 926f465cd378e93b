// Rejected: E08.4 overlap
// All handlers decrement a number and write to an array, without a lock. That is correct on one
// thread.

import Stage3ThreadSafe

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    var values = [Value?](repeating: nil, count: promises.count)
    var missing = promises.count
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                values[index] = value
                missing -= 1
                if missing == 0 { resolver.settle(.success(values.compactMap { $0 })) }
            case .failure(let error):
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
