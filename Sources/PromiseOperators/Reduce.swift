extension AWPromise {
    /// Combines the values of promises, one after the other in the order of
    /// the promises, beginning with `initial`. Rejected as soon as it is the
    /// turn of a rejected one, with its error, or when `combine` throws.
    ///
    /// `combine` runs once for each promise at most, where `dispatcher` wants
    /// it, and never before it has returned for the promise before. No promises
    /// give `initial`. From Google's library.
    public static func reduce<Part>(
        _ initial: Value,
        _ promises: [AWPromise<Part>],
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ combine: @escaping @Sendable (Value, Part) throws -> Value
    ) -> AWPromise<Value> {
        promises.reduce(.fulfilled(initial)) { soFar, promise in
            soFar.then(on: ImmediateDispatcher()) { value in
                promise.then(on: dispatcher) { try combine(value, $0) }
            }
        }
    }

    /// As above; the next promise has its turn when the one that `combine`
    /// returns is fulfilled.
    public static func reduce<Part>(
        _ initial: Value,
        _ promises: [AWPromise<Part>],
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ combine: @escaping @Sendable (Value, Part) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        promises.reduce(.fulfilled(initial)) { soFar, promise in
            soFar.then(on: ImmediateDispatcher()) { value in
                promise.then(on: dispatcher) { try combine(value, $0) }
            }
        }
    }
}
