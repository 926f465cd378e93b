// What has to do with time. Promises are settled where the clock makes its
// calls: a queue of the system's, or the thread that turns a clock by hand.

extension AWPromise where Value == Void {
    /// A promise that is fulfilled when `delay` has passed; never inside this
    /// call, not even for no delay at all. PromiseKit's `after`.
    public static func after(
        _ delay: Duration, clock: any PromiseClock = SystemClock()
    ) -> AWPromise<Void> {
        let (promise, resolver) = pending()
        _ = clock.schedule(after: delay) { resolver.fulfill(()) }
        return promise
    }
}

extension AWPromise {
    /// Passes the value on when `delay` has passed since it was there. An error
    /// passes at once, as in Google's library: it is bad news, and has waited
    /// long enough. The `withDelay` of Bolts delays errors too.
    public func delay(
        _ delay: Duration, clock: any PromiseClock = SystemClock()
    ) -> AWPromise<Value> {
        let here = ImmediateDispatcher()
        return then(on: here) { value in
            AWPromise<Void>.after(delay, clock: clock).then(on: here) { value }
        }
    }

    /// Ends as this promise ends, if it does within `limit` from now; if not,
    /// rejected with ``OperatorError/timedOut``. The work behind this promise
    /// goes on: to stop it, cancel it.
    ///
    /// The timer is cancelled when the promise ends, and keeps nothing alive
    /// but itself. In Google's library, from which this is, the timer runs on.
    public func timeout(
        after limit: Duration, clock: any PromiseClock = SystemClock()
    ) -> AWPromise<Value> {
        let (promise, resolver) = Self.pending()
        resolver.follow(self)
        let alarm = clock.schedule(after: limit) { [weak resolver] in
            resolver?.settle(.failure(OperatorError.timedOut))
        }
        promise.afterwards { alarm.cancel() }
        return promise
    }
}

extension CancellationSource {
    /// Cancels when `delay` has passed, unless the source and all who keep its
    /// token are gone by then: the timer does not keep them alive. From Bolts.
    ///
    /// The timer is cancelled with the source. Called more than once, the
    /// earliest counts.
    public func cancel(
        after delay: Duration, clock: any PromiseClock = SystemClock()
    ) {
        let alarm = clock.schedule(after: delay) { [weak token] in
            token?.cancel()
        }
        token.promise.afterwards { alarm.cancel() }
    }
}
