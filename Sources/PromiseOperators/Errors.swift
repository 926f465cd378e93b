import Dispatch

// Operators of a single chain. Most are made from `continueWith`.
//
// Each `function` runs at most once, where `dispatcher` decides. If it throws,
// the new promise is rejected with that error.
//
// A cancelled promise is rejected with a `CancellationError`, and these
// operators see it. PromiseKit's `catch` skips cancellation by default, so a
// chain can end without a call of any handler.

extension AWPromise {
    /// Calls `function` with the error of a rejected promise, and returns a
    /// promise that settles as the promise returned by `function` does. A value
    /// is passed on.
    ///
    /// To recover from certain errors only, throw the others again.
    @discardableResult
    public func recover(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (any Error) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        continueWith(on: dispatcher) { outcome in
            guard case .failure(let error) = outcome else {
                return AWPromise(outcome)
            }
            return try function(error)
        }
    }

    /// Replaces an error by the value that `function` returns.
    @discardableResult
    public func recover(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (any Error) throws -> Value
    ) -> AWPromise<Value> {
        recover(on: dispatcher) { .fulfilled(try function($0)) }
    }

    /// Calls `function` with the error of a rejected promise, and passes the
    /// error on: the chain stays rejected, as in Google Promises.
    ///
    /// ``AWPromise/error(on:_:)`` ends a chain instead, and `recover` fulfills
    /// it, as JavaScript's `catch` does.
    @discardableResult
    public func `catch`(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (any Error) throws -> Void
    ) -> AWPromise<Value> {
        recover(on: dispatcher) { error -> Value in
            try function(error)
            throw error
        }
    }

    /// Calls `function` when the promise is settled, and passes the outcome on.
    @discardableResult
    public func always(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable () -> Void
    ) -> AWPromise<Value> {
        continueWith(on: dispatcher) { outcome in
            function()
            return AWPromise(outcome)
        }
    }

    /// Calls `function` when the promise is settled, waits for the promise that
    /// it returns, and passes the outcome on. If that promise is rejected, its
    /// error is passed on instead, as in JavaScript's `finally`.
    @discardableResult
    public func always<Ignored>(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        waitingFor function: @escaping @Sendable () throws -> AWPromise<Ignored>
    ) -> AWPromise<Value> {
        continueWith(on: dispatcher) { outcome in
            try function().then(on: ImmediateDispatcher()) { _ in
                try outcome.get()
            }
        }
    }

    /// The new promise is rejected with ``OperatorError/invalidValue`` if
    /// `isValid` is `false` for the value. For another error, throw it. (From
    /// Google Promises.)
    @discardableResult
    public func validate(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ isValid: @escaping @Sendable (Value) throws -> Bool
    ) -> AWPromise<Value> {
        then(on: dispatcher) { value in
            guard try isValid(value) else { throw OperatorError.invalidValue }
            return value
        }
    }
}
