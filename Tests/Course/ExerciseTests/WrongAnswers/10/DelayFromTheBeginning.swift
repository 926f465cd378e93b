// Rejected: E10.1 too early
// The delay starts at the beginning of the attempt instead of its failure.

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    let here = ImmediateDispatcher()

    @Sendable func begin(_ number: Int) {
        let (pause, ended) = AWPromise<Void>.pending()
        if number < attempts {
            _ = clock.schedule(after: delay(number)) { ended.fulfill(()) }
        }
        AWPromise<Void>.fulfilled(()).then(on: here) { try work(number) }
            .observe(on: here) { outcome in
                guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error)
                else {
                    resolver.settle(outcome)
                    return
                }
                pause.observe(on: here) { _ in begin(number + 1) }
            }
    }

    begin(1)
    return promise
}
