import Dispatch

extension AWPromise {
    /// Starts work, and starts it again if it fails, up to `attempts` times in
    /// all. Returns a promise that is fulfilled with the first value, or
    /// rejected with the error of the last attempt.
    ///
    /// After failed attempt number n it waits for `delay(n)`. It gives up early
    /// if `condition` returns `false` for the error. The default does that for
    /// a cancellation.
    ///
    /// `work` receives the number of the attempt, from 1. All three functions
    /// run where `dispatcher` decides, one at a time. An error that `work`
    /// throws is that of the attempt; one that `condition` throws ends the
    /// retries. `attempts` below 1 is a programming error. To stop it, let
    /// `work` check a ``CancellationToken``; that ends no delay early.
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
                    guard try number < attempts && condition(error)
                    else { throw error }
                    throw TryAgain(delay: delay(number))
                }
                .observe(on: ImmediateDispatcher()) { end(number, $0) }
        }

        @Sendable func end(_ number: Int, _ outcome: Outcome) {
            guard case .failure(let error as TryAgain) = outcome else {
                Nesting.run { resolver.settle(outcome) }
                return
            }
            // Through the clock even without a delay: otherwise attempts that
            // fail at once would deepen the stack.
            _ = clock.schedule(after: error.delay) { start(number + 1) }
        }

        start(1)
        return promise
    }
}

/// Replaces an error after which there is another attempt.
private struct TryAgain: Error { let delay: Duration }
