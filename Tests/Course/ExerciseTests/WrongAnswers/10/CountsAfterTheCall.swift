// Rejected: E10.4 twice
// The next attempt is scheduled before the attempts are counted. Another thread may advance the
// clock in between.

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()

    var number = 1

    @Sendable func begin() {
        attempt(number).observe(on: ImmediateDispatcher()) { outcome in
            guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error) else {
                resolver.settle(outcome)
                return
            }
            _ = clock.schedule(after: delay(number)) { begin() }
            number += 1
        }
    }

    @Sendable func attempt(_ number: Int) -> AWPromise<Value> {
        do {
            return try work(number)
        } catch {
            return .rejected(error)
        }
    }

    begin()
    return promise
}
