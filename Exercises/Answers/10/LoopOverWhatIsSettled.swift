// A loop handles attempts that are settled when they return. Only a pending attempt is observed,
// and its observer starts a new loop.

import PromiseOperators

private struct Retrying<Value: Sendable>: @unchecked Sendable {
    let attempts: Int
    let clock: any PromiseClock
    let delay: @Sendable (Int) -> Duration
    let isWorthwhile: @Sendable (any Error) -> Bool
    let work: @Sendable (Int) throws -> AWPromise<Value>
    let resolver: Resolver<Value>

    func loop(from first: Int) {
        var number = first
        while let outcome = settledOutcome(of: number), goesOn(after: outcome, number) {
            number += 1
        }
    }

    /// `nil` if there is no outcome yet: then an observer continues.
    private func settledOutcome(of number: Int) -> AWPromise<Value>.Outcome? {
        let promise: AWPromise<Value>
        do {
            promise = try work(number)
        } catch {
            return .failure(error)
        }
        if let outcome = promise.result { return outcome }
        promise.observe(on: ImmediateDispatcher()) { outcome in
            if goesOn(after: outcome, number) { loop(from: number + 1) }
        }
        return nil
    }

    /// Whether the next attempt begins at once.
    private func goesOn(after outcome: AWPromise<Value>.Outcome, _ number: Int) -> Bool {
        guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error) else {
            resolver.settle(outcome)
            return false
        }
        let pause = delay(number)
        if pause <= .zero { return true }
        _ = clock.schedule(after: pause) { loop(from: number + 1) }
        return false
    }
}

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    Retrying(
        attempts: attempts, clock: clock, delay: delay, isWorthwhile: isWorthwhile, work: work,
        resolver: resolver
    ).loop(from: 1)
    return promise
}
