// Rejected: E10.1 kept alive
// The closure that holds itself is released when the last attempt ends at once, but not when it
// ends later.

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    var begin: ((Int) -> Void)?
    // Whether another attempt follows.
    let goesOn = { (outcome: AWPromise<Value>.Outcome, number: Int) in
        guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error) else {
            resolver.settle(outcome)
            return false
        }
        _ = clock.schedule(after: delay(number)) { begin?(number + 1) }
        return true
    }
    begin = { number in
        let attempt: AWPromise<Value>
        do {
            attempt = try work(number)
        } catch {
            attempt = .rejected(error)
        }
        if let outcome = attempt.result {
            if !goesOn(outcome, number) { begin = nil }
        } else {
            attempt.observe(on: ImmediateDispatcher()) { _ = goesOn($0, number) }
        }
    }
    begin?(1)
    return promise
}
