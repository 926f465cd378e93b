// What can be done with the error of a promise, besides `error`.
//
// All functions run once at most, where `dispatcher` wants them. A value passes
// by without going through `dispatcher`.
//
// A cancelled promise is rejected like any other, with a `CancellationError`:
// these functions hear of it. PromiseKit's `catch` leaves cancellation out
// unless it is asked for; but then a chain may end with no handler called at
// all, which looks like a chain that hangs.
//
// There is no promise that cannot fail, such as PromiseKit's `Guarantee`. Some
// of what a promise here keeps, it keeps by being rejected: whose resolver is
// dropped is abandoned, whose function returns it has returned itself, and
// whose task is cancelled throws. A type without errors would have to hang for
// ever instead, or end the program. (PromiseKit's hangs.) What can be had is a
// value for every error: that is `recover` with a function that does not throw.

extension AWPromise {
    /// Shows `function` the error. The promise that is returned is rejected
    /// with the same error, or with the one that `function` throws.
    ///
    /// So it is in Google's library. In PromiseKit and with the article's
    /// `error` the chain is over at this point; in JavaScript `catch` is what
    /// is called ``recover(on:_:)-(_)`` here. For ``Diagnostics`` the error has
    /// been handled, unless the chain goes on.
    @discardableResult
    public func `catch`(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (any Error) throws -> Void
    ) -> AWPromise<Value> {
        let caught = continueAfterError(on: dispatcher) { error in
            try function(error)
            return .rejected(error)
        }
        caught.error(on: ImmediateDispatcher()) { _ in }
        return caught
    }

    /// Shows `function` the error if it is of a certain type, such as
    /// `CancellationError`. Others pass by, though through `dispatcher`, and
    /// have not been handled.
    @discardableResult
    public func `catch`<Failure: Error>(
        _ type: Failure.Type,
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Failure) throws -> Void
    ) -> AWPromise<Value> {
        continueAfterError(on: dispatcher) { error in
            if let failure = error as? Failure { try function(failure) }
            return .rejected(error)
        }
    }

    /// Puts the value that `function` returns in the place of an error.
    /// PromiseKit's, Google's and JavaScript's (`catch`) all do this.
    @discardableResult
    public func recover(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (any Error) throws -> Value
    ) -> AWPromise<Value> {
        continueAfterError(on: dispatcher) { .fulfilled(try function($0)) }
    }

    /// Puts the outcome of the promise that `function` returns in the place of
    /// an error.
    @discardableResult
    public func recover(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (any Error) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        continueAfterError(on: dispatcher, function)
    }

    /// Recovers from errors of a certain type. Others pass by, though through
    /// `dispatcher`.
    @discardableResult
    public func recover<Failure: Error>(
        from type: Failure.Type,
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Failure) throws -> Value
    ) -> AWPromise<Value> {
        continueAfterError(on: dispatcher) { error in
            guard let failure = error as? Failure else { throw error }
            return .fulfilled(try function(failure))
        }
    }

    /// Recovers from errors of a certain type with a promise. Others pass by,
    /// though through `dispatcher`.
    @discardableResult
    public func recover<Failure: Error>(
        from type: Failure.Type,
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Failure) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        continueAfterError(on: dispatcher) { error in
            guard let failure = error as? Failure else { throw error }
            return try function(failure)
        }
    }
}
