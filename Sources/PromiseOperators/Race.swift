extension AWPromise {
    /// Ends as the first of the promises ends, whichever way. Of several that
    /// are settled already, the first in the array wins; one that is still
    /// calling its handlers counts as settled when it has called them.
    ///
    /// Nothing is rejected with ``OperatorError/noPromises``, as in PromiseKit:
    /// JavaScript's `race` of nothing is pending for ever. Once it is decided,
    /// nothing is left behind on the others, however long they live.
    ///
    /// Called `race` everywhere but in Bolts, where it is `whenAny`.
    public static func race(
        _ promises: [AWPromise<Value>]
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        if promises.isEmpty { resolver.reject(OperatorError.noPromises) }
        for contestant in promises {
            resolver.follow(contestant)
        }
        return promise
    }

    /// Fulfilled with the value of the first promise that is fulfilled. If
    /// each of them is rejected, with ``OperatorError/allRejected(_:)``
    /// and their errors, in the order of the promises.
    ///
    /// Nothing is rejected with ``OperatorError/noPromises``.
    ///
    /// JavaScript's `any`, PromiseKit's `race(fulfilled:)`. Google's `any` is
    /// another thing: it waits for every promise, as ``allSettled(_:)`` does.
    public static func any(
        _ promises: [AWPromise<Value>]
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        let countdown = Countdown(promises.count)
        if promises.isEmpty { resolver.reject(OperatorError.noPromises) }
        for contestant in promises {
            resolver.follow(contestant) { outcome in
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
