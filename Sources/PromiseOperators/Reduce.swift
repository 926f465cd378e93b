import Dispatch

extension AWPromise {
    /// Combines the values of promises, in the order of the promises, starting
    /// with `initial`. The new promise is rejected with the first error in
    /// this order, or with what `combine` throws.
    ///
    /// `combine` runs at most once for each promise, where `dispatcher`
    /// decides, one call after the other. (From Google Promises.)
    public static func reduce<Part>(
        _ initial: Value,
        _ promises: [AWPromise<Part>],
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ combine: @escaping @Sendable (Value, Part) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        promises.reduce(.fulfilled(initial)) { soFar, part in
            soFar.then(on: ImmediateDispatcher()) { value in
                part.then(on: dispatcher) { try combine(value, $0) }
            }
        }
    }

    /// Combines the values of promises with a function that returns a value.
    public static func reduce<Part>(
        _ initial: Value,
        _ promises: [AWPromise<Part>],
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ combine: @escaping @Sendable (Value, Part) throws -> Value
    ) -> AWPromise<Value> {
        reduce(initial, promises, on: dispatcher) {
            .fulfilled(try combine($0, $1))
        }
    }
}
