// Rejected: E10.1 wrong value
// It is rejected with the error of the first attempt.

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()

    @Sendable func begin(_ number: Int, _ first: (any Error)? = nil) {
        attempt(number).observe(on: ImmediateDispatcher()) { outcome in
            guard case .failure(let error) = outcome else {
                resolver.settle(outcome)
                return
            }
            guard number < attempts, isWorthwhile(error) else {
                resolver.settle(.failure(first ?? error))
                return
            }
            _ = clock.schedule(after: delay(number)) { begin(number + 1, first ?? error) }
        }
    }

    @Sendable func attempt(_ number: Int) -> AWPromise<Value> {
        do {
            return try work(number)
        } catch {
            return .rejected(error)
        }
    }

    begin(1)
    return promise
}
