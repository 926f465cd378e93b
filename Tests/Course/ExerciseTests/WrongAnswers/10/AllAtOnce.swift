// Rejected: E10.1 too early
// All attempts are scheduled at the beginning, and the first that succeeds wins.

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
        do {
            try work(number).observe(on: here) { outcome in end(number, outcome) }
        } catch {
            end(number, .failure(error))
        }
    }

    @Sendable func end(_ number: Int, _ outcome: Result<Value, any Error>) {
        if case .success = outcome { resolver.settle(outcome) }
        if number == attempts { resolver.settle(outcome) }
    }

    begin(1)
    var pause = Duration.zero
    for number in stride(from: 2, through: attempts, by: 1) {
        pause += delay(number - 1)
        _ = clock.schedule(after: pause) { begin(number) }
    }
    return promise
}
