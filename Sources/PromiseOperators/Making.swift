extension AWPromise {
    /// Makes a fulfilled promise.
    public static func fulfilled(_ value: Value) -> AWPromise<Value> {
        AWPromise(.success(value))
    }

    /// Makes a rejected promise.
    public static func rejected(_ error: any Error) -> AWPromise<Value> {
        AWPromise(.failure(error))
    }

    /// Calls `function`, and returns a promise of what it returns or throws.
    ///
    /// `function` runs once: inside this call, unless you pass a dispatcher.
    /// The first step of a chain can throw, as every other step can. (The idea
    /// comes from PromiseKit's `firstly`.)
    public static func attempt(
        on dispatcher: any Dispatcher = ImmediateDispatcher(),
        _ function: @escaping @Sendable () throws -> Value
    ) -> AWPromise<Value> {
        AWPromise<Void>.fulfilled(()).then(on: dispatcher, function)
    }

    /// Calls `function`, and returns a promise that settles as the promise
    /// returned by `function` does. If it throws, the promise is rejected.
    public static func attempt(
        on dispatcher: any Dispatcher = ImmediateDispatcher(),
        _ function: @escaping @Sendable () throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        AWPromise<Void>.fulfilled(()).then(on: dispatcher, function)
    }

    /// Calls a function that takes a completion handler of a value and an
    /// error, and returns a promise of what the handler receives.
    ///
    /// ```swift
    /// AWPromise<Data>.wrap { done in store.load(completion: done) }
    /// ```
    ///
    /// `work` runs once, inside this call; what it throws rejects the promise.
    /// The completion handler may be called on any thread. Its first call
    /// settles the promise; later calls are ignored. If it is released without
    /// a call, the promise is abandoned. With both a value and an error, the
    /// error counts, as in Google Promises: an error should not be ignored.
    public static func wrap(
        _ work: (@escaping @Sendable (Value?, (any Error)?) -> Void) throws
            -> Void
    ) -> AWPromise<Value> {
        wrap { (done: @escaping @Sendable (Outcome) -> Void) in
            try work { value, error in
                done(
                    Outcome {
                        if let error { throw error }
                        if let value { return value }
                        throw OperatorError.neitherValueNorError
                    })
            }
        }
    }

    /// Calls a function that takes a completion handler of a `Result`. (For a
    /// handler of a value, and for one without parameters,
    /// ``AWPromise/init(block:)`` suffices.)
    public static func wrap<Failure>(
        _ work: (@escaping @Sendable (Result<Value, Failure>) -> Void) throws
            -> Void
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        do {
            try work { resolver.settle($0.mapError { $0 }) }
        } catch {
            resolver.reject(error)
        }
        return promise
    }
}
