// What can be done with the value of a promise, besides `then`.
//
// All functions run once at most, where `dispatcher` wants them. What they
// throw rejects the promise that is returned; an error from before passes by.

extension AWPromise {
    /// Calls `function` with the value and returns a promise of nothing: the
    /// end of a chain, where a `then` would have nothing to return.
    ///
    /// From PromiseKit. There the compiler demands that an error handler
    /// follows; here ``Diagnostics`` will say so.
    @discardableResult
    public func done(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Value) throws -> Void
    ) -> AWPromise<Void> {
        then(on: dispatcher, function)
    }

    /// Shows `function` the value and passes the value on. PromiseKit's `get`.
    @discardableResult
    public func get(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Value) throws -> Void
    ) -> AWPromise<Value> {
        then(on: dispatcher) { value in
            try function(value)
            return value
        }
    }

    /// Shows `function` the outcome, whichever it is, and passes it on. It
    /// cannot throw, so it cannot change anything, as in PromiseKit.
    @discardableResult
    public func tap(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Outcome) -> Void
    ) -> AWPromise<Value> {
        continueWith(on: dispatcher) { outcome in
            function(outcome)
            return .settled(outcome)
        }
    }

    /// Rejects with ``OperatorError/invalidValue`` a value for which
    /// `isValid` is `false`. Google's `validate`; PromiseKit's is for the
    /// answers of a server only, and throws what was wrong. To say what is
    /// wrong, throw it from `isValid`.
    public func validate(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ isValid: @escaping @Sendable (Value) throws -> Bool
    ) -> AWPromise<Value> {
        then(on: dispatcher) { value in
            guard try isValid(value) else { throw OperatorError.invalidValue }
            return value
        }
    }

    /// Like `then`, but rejects with ``OperatorError/noValue`` if `function`
    /// returns `nil`. From PromiseKit.
    public func compactMap<Next>(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Value) throws -> Next?
    ) -> AWPromise<Next> {
        then(on: dispatcher) { value in
            guard let next = try function(value) else {
                throw OperatorError.noValue
            }
            return next
        }
    }

    /// A promise that ends when this one does, without its value.
    public func asVoid() -> AWPromise<Void> {
        then(on: ImmediateDispatcher()) { _ in }
    }

    /// Makes a promise that is settled already.
    static func settled(_ outcome: Outcome) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        resolver.settle(outcome)
        return promise
    }
}
