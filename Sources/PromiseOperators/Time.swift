// Operators that need a clock. What the clock settles is settled where it makes
// its calls: on a queue of the system, or on the thread that advances a
// `ManualClock`.

extension AWPromise where Value == Void {
    /// Makes a promise that is fulfilled after `delay`, and never inside this
    /// call.
    public static func after(
        _ delay: Duration, clock: any PromiseClock = SystemClock()
    ) -> AWPromise<Void> {
        let (promise, resolver) = pending()
        _ = clock.schedule(after: delay) { resolver.fulfill(()) }
        return promise
    }
}

extension AWPromise {
    /// Returns a promise that is fulfilled with the value `delay` after this
    /// promise is fulfilled. An error rejects it at once, as in Google
    /// Promises.
    public func delay(
        _ delay: Duration, clock: any PromiseClock = SystemClock()
    ) -> AWPromise<Value> {
        let here = ImmediateDispatcher()
        return then(on: here) { value in
            AWPromise<Void>.after(delay, clock: clock).then(on: here) { value }
        }
    }

    /// Returns a promise that settles as this one does, or is rejected with
    /// ``OperatorError/timedOut`` if that takes longer than `limit`. The work
    /// itself is not stopped; to stop it, cancel it.
    ///
    /// The timer is cancelled when the promise settles, and retains no promise.
    /// (From Google Promises, where the timer runs on.)
    public func timeout(
        after limit: Duration, clock: any PromiseClock = SystemClock()
    ) -> AWPromise<Value> {
        let (promise, resolver) = Self.pending()
        resolver.follow(self, until: promise)
        let alarm = clock.schedule(after: limit) { [weak resolver] in
            resolver?.reject(OperatorError.timedOut)
        }
        promise.observe(on: ImmediateDispatcher()) { _ in alarm.cancel() }
        return promise
    }
}
