// Promises of functions that take a completion handler.
//
// `work` runs once, at once, on the calling thread. The handler that it is
// given may be called on any thread; the first call settles the promise, and a
// later one changes nothing (Google's `wrap` and PromiseKit's `seal` agree).
// Dropped uncalled, it leaves the promise abandoned. What `work` throws rejects
// the promise.

extension AWPromise {
    /// Wraps a function whose completion handler takes a value or an error, as
    /// those that come from Objective-C do. With both, the error counts, as in
    /// Google's `wrap`; PromiseKit lets the value win, but a caller that had
    /// reason to pass an error should not be overheard. With neither, the
    /// promise is rejected with ``OperatorError/neitherValueNorError``.
    ///
    /// ```swift
    /// AWPromise<Data>.wrap { done in store.load(completion: done) }
    /// ```
    public static func wrap(
        _ work: (@escaping @Sendable (Value?, (any Error)?) -> Void) throws
            -> Void
    ) -> AWPromise<Value> {
        wrapping { resolver in
            try work { value, error in
                if let error {
                    resolver.reject(error)
                } else if let value {
                    resolver.fulfill(value)
                } else {
                    resolver.reject(OperatorError.neitherValueNorError)
                }
            }
        }
    }

    /// Wraps a function whose completion handler takes a `Result`.
    public static func wrap<Failure>(
        _ work: (@escaping @Sendable (Result<Value, Failure>) -> Void) throws
            -> Void
    ) -> AWPromise<Value> {
        wrapping { resolver in
            try work { result in
                switch result {
                case .success(let value): resolver.fulfill(value)
                case .failure(let error): resolver.reject(error)
                }
            }
        }
    }

    /// Wraps a function whose completion handler takes a value.
    public static func wrap(
        _ work: (@escaping @Sendable (Value) -> Void) throws -> Void
    ) -> AWPromise<Value> {
        wrapping { resolver in try work { resolver.fulfill($0) } }
    }

    private static func wrapping(
        _ work: (Resolver<Value>) throws -> Void
    ) -> AWPromise<Value> {
        let (promise, resolver) = pending()
        do {
            try work(resolver)
        } catch {
            resolver.settle(.failure(error))
        }
        return promise
    }
}

extension AWPromise where Value == Void {
    /// Wraps a function whose completion handler takes nothing.
    public static func wrap(
        _ work: (@escaping @Sendable () -> Void) throws -> Void
    ) -> AWPromise<Void> {
        wrapping { resolver in try work { resolver.fulfill(()) } }
    }

    /// Wraps a function whose completion handler takes an error or `nil`.
    public static func wrap(
        _ work: (@escaping @Sendable ((any Error)?) -> Void) throws -> Void
    ) -> AWPromise<Void> {
        wrapping { resolver in
            try work { error in
                if let error {
                    resolver.reject(error)
                } else {
                    resolver.fulfill(())
                }
            }
        }
    }
}
