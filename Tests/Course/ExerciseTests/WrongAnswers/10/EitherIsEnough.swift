// Rejected: E10.1 too many
// It goes on while attempts are left, or while another one is worthwhile.

import PromiseOperators
import Synchronization

private final class Retrier<V: Sendable>: Sendable {
    let attempts: Int
    let clock: any PromiseClock
    let delay: @Sendable (Int) -> Duration
    let isWorthwhile: @Sendable (any Error) -> Bool
    let work: @Sendable (Int) throws -> AWPromise<V>
    let resolver: Resolver<V>
    init(
        _ attempts: Int, _ clock: any PromiseClock, _ delay: @escaping @Sendable (Int) -> Duration,
        _ isWorthwhile: @escaping @Sendable (any Error) -> Bool,
        _ work: @escaping @Sendable (Int) throws -> AWPromise<V>, _ resolver: Resolver<V>
    ) {
        self.attempts = attempts
        self.clock = clock
        self.delay = delay
        self.isWorthwhile = isWorthwhile
        self.work = work
        self.resolver = resolver
    }
    func start(_ n: Int) -> AWPromise<V> {
        do { return try work(n) } catch { return .rejected(error) }
    }

    func begin(_ first: Int) {
        var n = first
        while true {
            let p = start(n)
            guard let o = p.result else {
                p.observe(on: ImmediateDispatcher()) { [n] o in
                    if self.go(n, o) { self.begin(n + 1) }
                }
                return
            }
            guard go(n, o) else { return }
            n += 1
        }
    }
    func go(_ n: Int, _ o: Result<V, any Error>) -> Bool {
        guard case .failure(let e) = o, n < attempts || isWorthwhile(e) else {
            resolver.settle(o)
            return false
        }
        let d = delay(n)
        if d <= .zero { return true }
        clock.schedule(after: d) { self.begin(n + 1) }
        return false
    }
}

public func withRetries<Value>(
    attempts: Int, on clock: any PromiseClock,
    delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration,
    while isWorthwhile: @escaping @Sendable (any Error) -> Bool,
    _ work: @escaping @Sendable (_ attempt: Int) throws -> AWPromise<Value>
) -> AWPromise<Value> {
    let (promise, resolver) = AWPromise<Value>.pending()
    Retrier(attempts, clock, delay, isWorthwhile, work, resolver).begin(1)
    return promise
}
