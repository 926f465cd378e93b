import Synchronization

/// Step B, call outside: no handler runs while the lock is held.
///
/// Under the lock, a thread only changes the state, and decides what to call.
/// It makes the call after the unlock. So a handler may register another one,
/// settle a promise, or wait for a thread.
///
/// What is still wrong: the order. A handler that is registered while others
/// are being called finds the promise settled, and is called at once.
public final class AWPromise<Value: Sendable>: Sendable {
    public typealias Outcome = Result<Value, any Error>
    public typealias ResolveFunction = @Sendable (Value) -> Void
    public typealias RejectFunction = @Sendable (any Error) -> Void
    private typealias Handler = @Sendable (Outcome) -> Void

    private enum Phase {
        /// Will become settled, once.
        case pending
        /// Will not change any more.
        case settled(Outcome)
    }

    /// Everything that changes.
    private struct State {
        var phase = Phase.pending
        /// The handlers not yet called, in order of registration.
        var handlers: [Handler] = []
    }

    private let state = Mutex(State())

    /// The value or the error; `nil` while the promise is pending. A `nil` may
    /// be out of date by the time you look at it; an outcome never is.
    public var result: Outcome? {
        state.withLock { state in
            switch state.phase {
            case .pending: nil
            case .settled(let outcome): outcome
            }
        }
    }

    /// Runs `block` at once, on the calling thread, and passes it two
    /// functions: `resolve` for success and `reject` for failure. Both may be
    /// called on any thread. The first call of either function settles the
    /// promise; all later calls are ignored.
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
        let handlers = state.withLock { state -> [Handler] in
            guard case .pending = state.phase else { return [] }
            state.phase = .settled(outcome)
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler(outcome) }
    }

    /// Registers `handler`, which is called exactly once with the outcome.
    private func observe(_ handler: @escaping Handler) {
        let outcome = state.withLock { state -> Outcome? in
            guard case .settled(let outcome) = state.phase else {
                state.handlers.append(handler)
                return nil
            }
            return outcome
        }
        if let outcome { handler(outcome) }
    }

    // MARK: - Chaining

    /// Calls `function` with the value, and returns a promise of its result.
    /// If `function` throws, or if this promise is rejected, the new promise
    /// is rejected with that error.
    ///
    /// `function` runs at most once: on the thread that settles the promise,
    /// or, if it is settled, on the calling thread before `then` returns.
    @discardableResult
    public func then<Next>(
        _ function: @escaping @Sendable (Value) throws -> Next
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
        _ function: @escaping @Sendable (Value) throws -> AWPromise<Next>
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
    /// `function` runs at most once, where a handler of `then` would run.
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
