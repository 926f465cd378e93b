/// Stage 2: the same promise with a list of handlers. It settles once, calls
/// each handler once, in the order of registration, and flattens promises that
/// handlers return.
///
/// Use it on one thread only, because it has no lock. Even there it has bugs.
public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    public typealias ResolveFunction = (Value) -> Void
    public typealias RejectFunction = (any Error) -> Void
    private typealias Handler = (Outcome) -> Void

    /// The value and the error are part of the state, so a promise that is
    /// fulfilled without a value cannot be represented.
    private enum State {
        /// Will become either fulfilled or rejected, once.
        case pending
        /// Will not change any more.
        case fulfilled(Value)
        /// Will not change any more.
        case rejected(any Error)
    }

    private var state = State.pending

    /// The handlers not yet called, in order of registration. A handler is
    /// removed when it is called, so that the promise does not keep alive what
    /// the handler has captured.
    private var handlers: [Handler] = []

    /// `true` while `settle` calls the handlers.
    private var isCallingHandlers = false

    /// The value or the error; `nil` while the promise is pending.
    public var result: Outcome? {
        switch state {
        case .pending: nil
        case .fulfilled(let value): .success(value)
        case .rejected(let error): .failure(error)
        }
    }

    /// Runs `block` at once, on the calling thread, and passes it two
    /// functions: `resolve` for success and `reject` for failure. The first
    /// call of either function settles the promise; all later calls are
    /// ignored.
    public init(
        block: (
            _ resolve: @escaping ResolveFunction,
            _ reject: @escaping RejectFunction
        ) -> Void
    ) {
        block(
            { value in self.settle(.success(value)) },
            { error in self.settle(.failure(error)) }
        )
    }

    /// Makes a pending promise that is settled by code in this file.
    private init() {}

    // MARK: - Settling and observing

    /// Settles the promise. Later calls do nothing.
    private func settle(_ outcome: Outcome) {
        guard case .pending = state else { return }
        switch outcome {
        case .success(let value): state = .fulfilled(value)
        case .failure(let error): state = .rejected(error)
        }
        isCallingHandlers = true
        // A handler may register another handler. That one must run after all
        // earlier ones, so it goes into the list for the next round.
        while !handlers.isEmpty {
            let round = handlers
            handlers = []
            for handler in round { handler(outcome) }
        }
        isCallingHandlers = false
    }

    /// Registers `handler`, which is called exactly once with the outcome.
    private func observe(_ handler: @escaping Handler) {
        if let outcome = result, !isCallingHandlers {
            handler(outcome)
        } else {
            // Still pending; or handlers are being called, and they come first.
            handlers.append(handler)
        }
    }

    // MARK: - Chaining

    /// Calls `function` with the value, and returns a promise of its result.
    /// If `function` throws, or if this promise is rejected, the new promise
    /// is rejected with that error.
    ///
    /// `function` runs at most once: inside the call that fulfills the promise,
    /// or, if that has returned, before `then` returns.
    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome in
            next.settle(Result { try function(outcome.get()) })
        }
        return next
    }

    /// Calls `function` with the value, and returns a promise that settles as
    /// the promise returned by `function` does. This is `flatMap`; the other
    /// `then` is `map`. Errors are handled in the same way.
    ///
    /// If `function` returns the very promise that this `then` has returned,
    /// that promise would wait for itself forever. It is rejected with
    /// ``PromiseError/returnedItself`` instead.
    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome in
            do {
                let inner = try function(outcome.get())
                guard inner !== next else { throw PromiseError.returnedItself }
                inner.observe { outcome in next.settle(outcome) }
            } catch {
                next.settle(.failure(error))
            }
        }
        return next
    }

    /// Ends a chain: calls `function` with the error that rejects this promise,
    /// which may come from a promise before it. It can be called any number of
    /// times, at any time, and does not affect any `then`.
    ///
    /// `function` runs at most once: inside the call that rejects the promise,
    /// or, if that has returned, before `error` returns.
    public func error(_ function: @escaping RejectFunction) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}

/// The errors of the promise itself.
public enum PromiseError: Error {
    /// A function returned the very promise that was made for its result.
    case returnedItself
}
