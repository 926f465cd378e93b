extension AWPromise {
    /// Returns a promise with the outcome of the first promise to settle.
    /// If several are settled already, the first in the array wins.
    ///
    /// For an empty array it is rejected with ``OperatorError/noPromises``, as
    /// in PromiseKit. (JavaScript's `race` stays pending.) When the race is
    /// decided, nothing remains on the other promises.
    public static func race(
        _ promises: [AWPromise<Value>]
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        if promises.isEmpty { resolver.reject(OperatorError.noPromises) }
        for source in promises { resolver.follow(source, until: promise) }
        return promise
    }

    /// Returns a promise of the value of the first that is fulfilled. If all
    /// are rejected, it is rejected with ``OperatorError/allRejected(_:)``.
    ///
    /// For an empty array it is rejected with ``OperatorError/noPromises``.
    /// Promises that are never settled keep each other alive.
    public static func any(
        _ promises: [AWPromise<Value>]
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        let countdown = Countdown(promises.count)
        if promises.isEmpty { resolver.reject(OperatorError.noPromises) }
        for source in promises {
            resolver.follow(source, until: promise) { outcome in
                if case .success = outcome { return outcome }
                guard countdown.reachesZero() else { return nil }
                let errors = promises.compactMap { $0.result?.error }
                return .failure(OperatorError.allRejected(errors))
            }
        }
        return promise
    }
}

extension Result {
    fileprivate var error: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
