// The next attempt is placed on a desk. The thread that finds no other thread at work starts to
// work; all others leave their attempt to it. So no attempt begins inside another one.

import Foundation
import PromiseOperators

private final class Desk: @unchecked Sendable {
    private let lock = NSLock()
    private var next: Int?
    private var somebodyIsAtWork = false

    /// Whether the caller must start to work.
    func put(_ number: Int) -> Bool {
        lock.lock()
        defer { lock.unlock() }
        next = number
        defer { somebodyIsAtWork = true }
        return !somebodyIsAtWork
    }

    /// The next attempt; `nil` if there is none, and the caller stops working.
    func take() -> Int? {
        lock.lock()
        defer { lock.unlock() }
        defer { next = nil }
        if next == nil { somebodyIsAtWork = false }
        return next
    }
}

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    let desk = Desk()

    @Sendable func begin(_ number: Int) {
        guard desk.put(number) else { return }
        while let number = desk.take() {
            AWPromise<Void>.fulfilled(())
                .then(on: ImmediateDispatcher()) { try work(number) }
                .observe(on: ImmediateDispatcher()) { outcome in end(number, outcome) }
        }
    }

    @Sendable func end(_ number: Int, _ outcome: Result<Value, any Error>) {
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

    begin(1)
    return promise
}
