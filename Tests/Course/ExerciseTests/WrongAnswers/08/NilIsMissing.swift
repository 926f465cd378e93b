// Rejected: E08.2 abandoned
// `NSNull` marks a missing value. A value that is `nil` is stored as `NSNull`, too.

import Foundation
import PromiseOperators

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    guard !promises.isEmpty else { return .fulfilled([]) }
    let (promise, resolver) = AWPromise<[Value]>.pending()
    let lock = NSLock()
    let values = NSMutableArray(array: promises.map { _ in NSNull() })
    for (index, part) in promises.enumerated() {
        part.observe(on: ImmediateDispatcher()) { outcome in
            switch outcome {
            case .success(let value):
                lock.lock()
                values[index] = value
                let isComplete = !values.contains { $0 is NSNull }
                let list = values.compactMap { $0 as? Value }
                lock.unlock()
                if isComplete { resolver.fulfill(list) }
            case .failure(let error):
                resolver.reject(error)
            }
        }
    }
    return promise
}
