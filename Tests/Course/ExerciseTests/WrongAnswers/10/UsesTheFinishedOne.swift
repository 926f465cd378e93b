// Rejected: refused
// Uses the operator of Stage 3 with its arguments in another order. (Cheats.)

import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    AWPromise.retry(
        attempts: attempts, delay: delay, clock: clock, on: ImmediateDispatcher(),
        while: isWorthwhile, work)
}
