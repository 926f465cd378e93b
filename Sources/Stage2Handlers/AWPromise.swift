/// Stage 2: the same promise with room for everyone. It settles once, keeps a
/// list of handlers instead of a slot, calls them in the order in which they
/// were registered, and flattens promises that are returned from `then`.
///
/// It is correct on one thread, and only there: nothing in it is locked.
public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    public typealias ResolveFunction = (Value) -> Void
    public typealias RejectFunction = (any Error) -> Void
    private typealias Handler = (Outcome) -> Void

    /// The value or the error lives in the state that it belongs to, so a
    /// promise that is fulfilled without a value cannot be written.
    private enum State {
        /// Will become either fulfilled or rejected, once.
        case pending
        /// Will not change any more.
        case fulfilled(Value)
        /// Will not change any more.
        case rejected(any Error)
    }

    private var state = State.pending

    /// Who waits for the outcome, in order of registration. Nobody stays here
    /// after being called: a promise may live on for long, and what its
    /// handlers have captured should not.
    private var handlers: [Handler] = []

    /// Whether handlers are being called, further up on this very stack.
    private var isCallingHandlers = false

    /// What the promise ended with; `nil` as long as it is pending.
    public var result: Outcome? {
        switch state {
        case .pending: nil
        case .fulfilled(let value): .success(value)
        case .rejected(let error): .failure(error)
        }
    }

    /// Runs `block` at once and hands it two functions: `resolve` for when its
    /// work succeeds, `reject` for when it fails. The first call of either
    /// settles the promise; all later calls are ignored. Handlers run inside
    /// that first call.
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

    // MARK: - Two things can happen to a promise

    /// It settles.
    private func settle(_ outcome: Outcome) {
        guard case .pending = state else { return }
        switch outcome {
        case .success(let value): state = .fulfilled(value)
        case .failure(let error): state = .rejected(error)
        }
        isCallingHandlers = true
        // A handler may register another one. That one waits until those who
        // came before it have been called, and has its turn in the next round.
        while !handlers.isEmpty {
            let round = handlers
            handlers = []
            for handler in round { handler(outcome) }
        }
        isCallingHandlers = false
    }

    /// It is observed: `handler` is called with the outcome, exactly once.
    private func observe(_ handler: @escaping Handler) {
        if let outcome = result, !isCallingHandlers {
            handler(outcome)
        } else {
            // Still pending; or settled just now, and others come first.
            handlers.append(handler)
        }
    }

    // MARK: - Chaining

    /// Calls `function` with the value, and returns a promise of what it
    /// returns. If `function` throws, or if this promise is rejected, the new
    /// promise is rejected with that error.
    ///
    /// `function` runs once at most: inside the call that fulfils the promise,
    /// or before `then` returns if the promise is fulfilled already.
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

    /// Calls `function` with the value, and returns a promise that ends as the
    /// one ends that `function` returns: this is `flatMap`, where the other
    /// `then` is `map`. Errors travel as they do there.
    ///
    /// A `function` that returns the very promise which this `then` has
    /// returned would wait for itself for ever. That promise is rejected with
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

    /// Ends a chain: calls `function` with the error if this promise, or any
    /// promise before it in the chain, is rejected. It may be attached any
    /// number of times, early or late, and takes nothing away from a `then`.
    ///
    /// `function` runs once at most: inside the call that rejects the promise,
    /// or before `error` returns if the promise is rejected already.
    public func error(_ function: @escaping RejectFunction) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}

/// What a promise itself can have to complain of.
public enum PromiseError: Error {
    /// A function passed to `then` returned the promise that this `then` had
    /// returned before.
    case returnedItself
}
