import Dispatch

extension AWPromise {
    /// Blocks the calling thread until the promise is settled, and returns its
    /// value or throws its error. At once, if it is settled already.
    ///
    /// Where it could be waiting for itself it does not begin: on the main
    /// queue, on a ``SerialQueue``, or on an operation queue that runs one
    /// operation at a time, it throws ``OperatorError/wouldWaitForItself``
    /// instead. The handlers that it waits for may be queued right behind it.
    /// That they are cannot be known, so it refuses whenever they may be. Other
    /// serial queues cannot be recognised; mark them with `SerialQueue(queue)`.
    /// Nor can a handler that runs immediately: what it waits for may have its
    /// turn when it has returned, on this very thread, and it waits for ever.
    ///
    /// Google's `await` and Bolts' `waitUntilFinished` do block there, the one
    /// for ever, the other with a warning; PromiseKit's `wait` warns.
    @available(*, noasync, message: "write `try await promise.value`")
    public func wait() throws -> Value {
        try wait(until: .distantFuture)
    }

    /// As ``wait()``, but throws ``OperatorError/timedOut`` if the promise is
    /// not settled within `limit`. The promise goes on.
    @available(*, noasync, message: "write `try await promise.value`")
    public func wait(atMost limit: Duration) throws -> Value {
        let (seconds, attoseconds) = limit.components
        return try wait(
            until: .now() + .seconds(Int(seconds))
                + .nanoseconds(Int(attoseconds / 1_000_000_000)))
    }

    private func wait(until deadline: DispatchTime) throws -> Value {
        if let result { return try result.get() }
        if SerialQueue.isCurrent { throw OperatorError.wouldWaitForItself }
        let bell = DispatchSemaphore(value: 0)
        let observation = observe(on: ImmediateDispatcher()) { _ in
            bell.signal()
        }
        _ = bell.wait(timeout: deadline)
        observation.withdraw()
        guard let result else { throw OperatorError.timedOut }
        return try result.get()
    }
}
