// Rejected: E08.5 over-synchronized
// One lock for all lists: safe, but unrelated threads wait for each other.

import Foundation
import Stage3ThreadSafe

private let theLock = NSLock()

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    var values = [Value?](repeating: nil, count: promises.count)
    var missing = promises.count
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                let full = theLock.withLock { () -> [Value]? in
                    values[index] = value
                    missing -= 1
                    return missing == 0 ? values.compactMap { $0 } : nil
                }
                if let full { resolver.settle(.success(full)) }
            case .failure(let error):
                resolver.settle(.failure(error))
            }
        }
    }
    return promise
}
