// Promises that begin a chain.

extension AWPromise {
    /// Makes a fulfilled promise.
    ///
    /// `Promise.value` in PromiseKit, `resolvedWith:` in Google's.
    public static func fulfilled(_ value: Value) -> AWPromise<Value> {
        let promise = AWPromise<Value>()
        promise.settle(.success(value))
        return promise
    }

    /// Makes a rejected promise.
    public static func rejected(_ error: any Error) -> AWPromise<Value> {
        let promise = AWPromise<Value>()
        promise.settle(.failure(error))
        return promise
    }

    /// Runs `block` once, where `dispatcher` wants it, and hands it the two
    /// functions that settle the promise, as ``init(block:)`` does at once.
    /// If both are dropped uncalled, the promise is rejected with
    /// ``PromiseError/abandoned``.
    ///
    /// This is Google's `async`, there always on a queue. The article's
    /// promise, like PromiseKit's, runs its block at once.
    public convenience init(
        on dispatcher: any Dispatcher,
        block:
            @escaping @Sendable (
                _ resolve: @escaping ResolveFunction,
                _ reject: @escaping RejectFunction
            ) -> Void
    ) {
        self.init { resolve, reject in
            dispatcher.dispatch { block(resolve, reject) }
        }
    }

    /// Calls `function`, and returns a promise of what it returns or throws.
    ///
    /// `function` runs once: at once, inside this call, unless a dispatcher is
    /// given. So the first step of a chain can throw as all others do. This is
    /// PromiseKit's `firstly`, and Google's `do`, which goes through a queue.
    public static func attempt(
        on dispatcher: any Dispatcher = ImmediateDispatcher(),
        _ function: @escaping @Sendable () throws -> Value
    ) -> AWPromise<Value> {
        AWPromise<Void>.fulfilled(()).then(on: dispatcher, function)
    }

    /// Calls `function`, and returns a promise that ends as the one ends that
    /// `function` returns. If it throws, the promise is rejected. It runs once,
    /// at once, unless a dispatcher is given.
    public static func attempt(
        on dispatcher: any Dispatcher = ImmediateDispatcher(),
        _ function: @escaping @Sendable () throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        AWPromise<Void>.fulfilled(()).then(on: dispatcher, function)
    }
}
