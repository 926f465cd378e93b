// Rejected: E10.1 deadlock
// An attempt begins under a lock, so that no other attempt begins. Work that fails at once tries to
// take the lock again.

import Foundation
import Stage3ThreadSafe

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    let lock = NSLock()

    @Sendable func begin(_ number: Int) {
        lock.lock()
        defer { lock.unlock() }
        attempt(number).observe(on: ImmediateDispatcher()) { outcome in
            guard case .failure(let error) = outcome, number < attempts, isWorthwhile(error) else {
                resolver.settle(outcome)
                return
            }
            let pause = delay(number)
            if pause > .zero {
                _ = clock.schedule(after: pause) { begin(number + 1) }
            } else {
                begin(number + 1)
            }
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
