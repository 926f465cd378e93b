// A list is the first promise and the rest, joined by a pair that waits for both.

import Foundation
import PromiseOperators

private final class Pair<Value: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var first: [Value]?
    private var second: [Value]?

    func add(_ values: [Value], isFirst: Bool) -> [Value]? {
        lock.lock()
        defer { lock.unlock() }
        if isFirst { first = values } else { second = values }
        if let first, let second { return first + second }
        return nil
    }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let here = ImmediateDispatcher()
    switch promises.count {
    case 0: return .fulfilled([])
    case 1: return promises[0].then(on: here) { [$0] }
    default:
        let middle = promises.count / 2
        let halves = [whenAll(Array(promises[..<middle])), whenAll(Array(promises[middle...]))]
        let (promise, resolver) = AWPromise<[Value]>.pending()
        let pair = Pair<Value>()
        for (index, half) in halves.enumerated() {
            half.observe(on: here) { outcome in
                switch outcome {
                case .failure(let error): resolver.settle(.failure(error))
                case .success(let values):
                    if let all = pair.add(values, isFirst: index == 0) {
                        resolver.settle(.success(all))
                    }
                }
            }
        }
        return promise
    }
}
