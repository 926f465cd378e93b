import Dispatch

extension AWPromise {
    /// Starts work, and starts it again if it fails, up to `attempts` times in
    /// all. The promise has the value of the first success, or the error of
    /// the last attempt.
    ///
    /// After failed attempt number n it waits for `delay(n)`. It gives up early
    /// if `condition` returns `false` for the error. The default does that for
    /// a cancellation.
    ///
    /// `work` gets the number of the attempt, from 1. `work` and `condition`
    /// run where `dispatcher` decides, one at a time; what they throw is the
    /// error of the attempt. `attempts` below 1 is a programming error. To stop
    /// it, let `work` check a ``CancellationToken``.
    ///
    /// (In Google Promises `attempts` counts the attempts after the first.)
    public static func retry(
        attempts: Int,
        delay: @escaping @Sendable (_ failedAttempt: Int) -> Duration = { _ in
            .seconds(1)
        },
        clock: any PromiseClock = SystemClock(),
        on dispatcher: any Dispatcher = DispatchQueue.main,
        while condition: @escaping @Sendable (any Error) throws -> Bool = {
            !($0 is CancellationError)
        },
        _ work: @escaping @Sendable (Int) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        precondition(attempts > 0, "attempts must be at least 1")
        let (promise, resolver) = pending()

        @Sendable func start(_ number: Int) {
            attempt(on: dispatcher) { try work(number) }
                .recover(on: dispatcher) { error -> AWPromise<Value> in
                    let goesOn = try number < attempts && condition(error)
                    throw goesOn ? TryAgain() : error
                }
                .observe(on: ImmediateDispatcher()) { end(number, $0) }
        }

        @Sendable func end(_ number: Int, _ outcome: Outcome) {
            guard case .failure(is TryAgain) = outcome else {
                Nesting.run { resolver.settle(outcome) }
                return
            }
            // Through the clock even without a delay: otherwise attempts that
            // fail at once would deepen the stack.
            _ = clock.schedule(after: delay(number)) { start(number + 1) }
        }

        start(1)
        return promise
    }
}

/// Replaces an error after which there is another attempt.
private struct TryAgain: Error {}
