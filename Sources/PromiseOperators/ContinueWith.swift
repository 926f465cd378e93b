extension AWPromise {
    /// Calls `function` with the outcome, whichever it is, and returns a
    /// promise that ends as the one ends that `function` returns. If it throws,
    /// the promise is rejected.
    ///
    /// `function` runs once, where `dispatcher` wants it. A `function` that
    /// returns the promise which this call has returned rejects that promise
    /// with ``PromiseError/returnedItself``.
    ///
    /// This is the `continueWith` of Bolts, from which everything else there is
    /// made, and the operators of a single chain are made from it here as well.
    /// (In Bolts the function gets the promise itself and asks how it ended.)
    @discardableResult
    public func continueWith<Next>(
        on dispatcher: any Dispatcher = DefaultDispatcher.current,
        _ function: @escaping @Sendable (Outcome) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome, agenda in
            dispatcher.perform(&agenda) { agenda in
                next.adopt(Result { try function(outcome) }, &agenda)
            }
        }
        return next
    }

    /// Calls `function` with the error of a rejection, and returns a promise
    /// that ends as the one ends that `function` returns. A value passes by
    /// without going through `dispatcher`, as an error passes by a `then`.
    /// A `function` that returns that very promise rejects it.
    func continueAfterError(
        on dispatcher: any Dispatcher,
        _ function: @escaping @Sendable (any Error) throws -> AWPromise<Value>
    ) -> AWPromise<Value> {
        let next = AWPromise<Value>()
        observe { outcome, agenda in
            switch outcome {
            case .success:
                next.settle(outcome, &agenda)
            case .failure(let error):
                dispatcher.perform(&agenda) { agenda in
                    next.adopt(Result { try function(error) }, &agenda)
                }
            }
        }
        return next
    }
}
