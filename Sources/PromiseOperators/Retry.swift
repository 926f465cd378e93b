extension AWPromise {
    /// Starts work, and starts it again if it fails, `attempts` times in all.
    /// Fulfilled by the first attempt that is, otherwise rejected with the
    /// error of the last one.
    ///
    /// Before the second attempt `delay(1)` passes, before the third `delay(2)`
    /// and so on: see ``Backoff``. There is no further attempt if `condition`
    /// is `false` for the error, as it is for a cancellation unless you say
    /// otherwise.
    ///
    /// `work` gets the number of the attempt, from 1. It and `condition` run
    /// where `dispatcher` wants them, `work` up to `attempts` times, never
    /// twice at a time; what either throws counts as the attempt's error.
    /// `attempts` is at least 1.
    ///
    /// To stop it, let `work` look at a ``CancellationToken``.
    ///
    /// In Google's library the number is that of *further* attempts, and a
    /// reader of `retry(attempts: 1)` has to know that it means two.
    public static func retry(
        attempts: Int,
        delay: @escaping Backoff = constantBackoff(.seconds(1)),
        clock: any PromiseClock = SystemClock(),
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        while condition: @escaping @Sendable (any Error) throws -> Bool = {
            !($0 is CancellationError)
        },
        _ work: @escaping @Sendable (Int) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        precondition(attempts > 0, "there has to be a first attempt")
        let (promise, resolver) = pending()
        let here = ImmediateDispatcher()

        @Sendable func start(_ number: Int) {
            attempt(on: dispatcher) { try work(number) }
                .continueAfterError(on: dispatcher) { error in
                    let goesOn = try number < attempts && condition(error)
                    throw goesOn ? Again() : error
                }
                .observe(on: here) { outcome in end(number, outcome) }
        }

        @Sendable func end(_ number: Int, _ outcome: Outcome) {
            guard case .failure(is Again) = outcome else {
                resolver.settle(outcome)
                return
            }
            // Always through the clock, so that attempts which fail at once
            // do not pile up on the stack.
            _ = clock.schedule(after: delay(number)) { start(number + 1) }
        }

        start(1)
        return promise
    }
}

/// Stands for an error after which there is another attempt.
private struct Again: Error {}

/// How long to wait after an attempt has failed, given its number, from 1.
public typealias Backoff = @Sendable (_ failedAttempt: Int) -> Duration

/// Always the same delay.
public func constantBackoff(_ delay: Duration) -> Backoff {
    { _ in delay }
}

/// `first`, then twice as long each time, but never longer than `longest`.
public func exponentialBackoff(
    _ first: Duration, longest: Duration
) -> Backoff {
    { failedAttempt in
        var delay = first
        var doublings = failedAttempt - 1
        while doublings > 0, delay > .zero, delay < longest {
            delay *= 2
            doublings -= 1
        }
        return min(delay, longest)
    }
}
