// Rejected: E10.1 too few
// An error that work throws is passed on at once. Only a rejected promise counts as a failure.

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()

    @Sendable func begin(_ number: Int) {
        do {
            try work(number).observe(on: ImmediateDispatcher()) { outcome in
                guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error)
                else {
                    resolver.settle(outcome)
                    return
                }
                _ = clock.schedule(after: delay(number)) { begin(number + 1) }
            }
        } catch {
            resolver.settle(.failure(error))
        }
    }

    begin(1)
    return promise
}
