// Rejected: E08.1 called under a lock
// The promise is settled while the lock is held, so its observers are called under the lock.

import Foundation
import Stage3ThreadSafe

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let lock = NSLock()
    var values = [Value?](repeating: nil, count: promises.count)
    var missing = promises.count
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            lock.withLock {
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
    }
    return promise
}
