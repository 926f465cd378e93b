// Rejected: E08.4 wrong value
// It looks for errors in one promise after the other, and an earlier promise may be rejected meanwhile.

import PromiseOperators
import Synchronization

private enum Gathering<V: Sendable>: Sendable {
    case waiting(values: [V?], missing: Int)
    case over

    mutating func receive(_ outcome: Result<V, any Error>, _ i: Int) -> Result<[V], any Error>? {
        guard case .waiting(var values, let missing) = self else { return nil }
        switch outcome {
        case .failure(let e):
            self = .over
            return .failure(e)
        case .success(let v):
            values[i] = v
            if missing == 1 {
                self = .over
                return .success(values.map { $0! })
            }
            self = .waiting(values: values, missing: missing - 1)
            return nil
        }
    }
}
private final class Holder<V: Sendable>: Sendable {
    let g: Mutex<Gathering<V>>
    init(_ n: Int) { g = Mutex(.waiting(values: Array(repeating: nil, count: n), missing: n)) }
}

public func whenAll<Value>(_ promises: [AWPromise<Value>]) -> AWPromise<[Value]> {
    let (promise, resolver) = AWPromise<[Value]>.pending()
    guard !promises.isEmpty else { resolver.settle(.success([])); return promise }
    // already rejected: nothing to wait for
    for p in promises {
        if case .failure(let e)? = p.result { return .rejected(e) }
    }
    let holder = Holder<Value>(promises.count)
    for i in 0..<promises.count {
        promises[i].observe(on: ImmediateDispatcher()) { outcome in
            let end = holder.g.withLock { $0.receive(outcome, i) }
            guard let end else { return }
            resolver.settle(end)
        }
    }
    return promise
}
