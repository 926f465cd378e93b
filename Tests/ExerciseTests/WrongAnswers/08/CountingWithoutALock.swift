// Rejected: E08.7 overlap
// A number that all handlers count down, and an array that all of them fill. On one thread it is
// fine.

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
