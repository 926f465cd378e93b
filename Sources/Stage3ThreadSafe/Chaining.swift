extension AWPromise {
    /// Calls `function` with the value, and returns a promise of what it
    /// returns. If `function` throws, or if this promise is rejected, the new
    /// promise is rejected with that error.
    ///
    /// `function` runs once at most, where `dispatcher` wants it. If that is a
    /// queue, it never runs inside this call or inside the call that fulfils
    /// the promise. An error passes by without going through `dispatcher`.
    @discardableResult
    public func then<Next>(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome, agenda in
            switch outcome {
            case .success(let value):
                dispatcher.perform(&agenda) { agenda in
                    next.settle(Result { try function(value) }, &agenda)
                }
            case .failure(let error):
                next.settle(.failure(error), &agenda)
            }
        }
        return next
    }

    /// Calls `function` with the value, and returns a promise that ends as the
    /// one ends that `function` returns: this is `flatMap`, where the other
    /// `then` is `map`. Errors travel, and `function` runs, as they do there.
    ///
    /// A `function` that returns the very promise which this `then` has
    /// returned would wait for itself for ever. That promise is rejected with
    /// ``PromiseError/returnedItself`` instead. (A circle of several, each of
    /// which is to end as the next one does, is not noticed: it stays pending.)
    @discardableResult
    public func then<Next>(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome, agenda in
            switch outcome {
            case .success(let value):
                dispatcher.perform(&agenda) { agenda in
                    next.adopt(Result { try function(value) }, &agenda)
                }
            case .failure(let error):
                next.settle(.failure(error), &agenda)
            }
        }
        return next
    }

    /// Ends a chain: calls `function` with the error if this promise, or any
    /// promise before it in the chain, is rejected. It may be attached any
    /// number of times, early or late, and takes nothing away from a `then`.
    ///
    /// `function` runs once at most, where `dispatcher` wants it.
    public func error(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping RejectFunction
    ) {
        observe { outcome, agenda in
            guard case .failure(let error) = outcome else { return }
            dispatcher.perform(&agenda) { _ in function(error) }
        }
    }

    /// Calls `function` with the outcome, whichever it is, unless the returned
    /// observation is withdrawn before. An observer stands outside of the
    /// chain: it changes nothing, and nothing waits for it.
    ///
    /// `function` runs once at most, where `dispatcher` wants it.
    @discardableResult
    public func observe(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Outcome) -> Void
    ) -> Observation {
        let ticket = observe { outcome, agenda in
            dispatcher.perform(&agenda) { _ in function(outcome) }
        }
        return Observation { self.withdraw(ticket) }
    }

    /// Ends as the promise ends that a function has returned, if it did.
    func adopt(
        _ returned: Result<AWPromise<Value>, any Error>,
        _ agenda: inout Agenda
    ) {
        switch returned {
        case .success(let inner) where inner === self:
            settle(.failure(PromiseError.returnedItself), &agenda)
        case .success(let inner):
            inner.observe(&agenda) { outcome, agenda in
                self.settle(outcome, &agenda)
            }
        case .failure(let error):
            settle(.failure(error), &agenda)
        }
    }
}

/// What ``AWPromise/observe(on:_:)`` returns. It may be dropped.
public struct Observation: Sendable {
    let withdrawal: @Sendable () -> Void

    /// Makes the promise forget the function, and all that it captured. Does
    /// nothing if its turn has come already: then the function has been called
    /// or will be. (Between the settling of a promise and the turn of its
    /// handlers there may be others' turns.) May be called on any thread, and
    /// more than once. The cost does not depend on how many others wait.
    public func withdraw() {
        withdrawal()
    }
}
