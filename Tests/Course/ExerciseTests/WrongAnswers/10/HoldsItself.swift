// Rejected: E10.1 kept alive
// A closure that begins the next attempt captures the variable that holds it: a reference cycle.

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    var begin: ((Int) -> Void)!
    begin = { number in
        AWPromise<Void>.fulfilled(())
            .then(on: ImmediateDispatcher()) { try work(number) }
            .observe(on: ImmediateDispatcher()) { outcome in
                guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error)
                else {
                    resolver.settle(outcome)
                    return
                }
                _ = clock.schedule(after: delay(number)) { begin(number + 1) }
            }
    }
    begin(1)
    return promise
}
