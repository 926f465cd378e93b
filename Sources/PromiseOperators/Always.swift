// What is to be done however a promise ends. All functions run exactly once,
// where `dispatcher` wants them.

extension AWPromise {
    /// Calls `function` when the promise is settled, and passes the outcome on.
    ///
    /// Google's `always`, PromiseKit's `ensure`. As there, `function` cannot
    /// throw: cleaning up does not change what came out.
    @discardableResult
    public func always(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable () -> Void
    ) -> AWPromise<Value> {
        tap(on: dispatcher) { _ in function() }
    }

    /// Calls `function` when the promise is settled, waits for the promise that
    /// it returns, and passes the outcome on. If that promise is rejected, or
    /// `function` throws, its error is passed on instead: what has to be
    /// cleaned up before going on has not been.
    ///
    /// JavaScript's `finally` does the same. PromiseKit's `ensureThen` takes
    /// only functions that cannot fail.
    @discardableResult
    public func always<Cleaned>(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        waitingFor function: @escaping @Sendable () throws -> AWPromise<Cleaned>
    ) -> AWPromise<Value> {
        continueWith(on: dispatcher) { outcome in
            try function().then(on: ImmediateDispatcher()) { _ in
                try outcome.get()
            }
        }
    }

    /// Ends a chain: calls `function` when the promise is settled. Like
    /// ``error(on:_:)`` it returns nothing, and both may be attached to one
    /// promise.
    ///
    /// PromiseKit's `finally`.
    public func finally(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable () -> Void
    ) {
        observe(on: dispatcher) { _ in function() }
    }
}
