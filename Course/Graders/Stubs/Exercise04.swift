// Exercise 4 · Flatten
//
// This promise settles once and calls all its handlers. Its `then` maps: the value that the
// function returns is the value of the next promise. If the function returns a promise, the result
// is a promise of a promise, which is of no use.
//
// The second `then` below is for such functions, and does nothing yet: the promise that it returns
// never settles. Make it settle as the promise that the function returns: with the same value or
// the same error, at once if that promise is already settled, and otherwise when it settles. Errors
// of the promise on which `then` is called, and errors that the function throws, propagate as they
// do with the other `then`. The interface stays as it is: `init(block:)`, both `then`s, `error`,
// `result`. The class stays `public final`: the grader adds a conformance that a class with
// subclasses cannot have.
//
// Two things to watch. The promise that the function returns may have other handlers. And through a
// variable, a function can return the very promise that its own `then` has returned. That promise
// would wait for itself forever; it must be rejected with `PromiseError.returnedItself` instead.
//
// Promises to which nothing refers any more must be freed, and so must what their handlers have
// captured, even if they were never settled. A promise refers only to those that wait for it.
//
// There is one thread.
//
// Grade it with: swift run promise-lab grade 4

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    public private(set) var result: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    // Init.part

    private func settle(_ outcome: Outcome) {
        guard result == nil else { return }
        result = outcome
        let waiting = handlers
        handlers = []
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        if let result {
            handler(result)
        } else {
            handlers.append(handler)
        }
    }

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

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        // No code settles it yet.
        AWPromise<Next>()
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}

/// Errors of the promise itself.
public enum PromiseError: Error {
    /// A function passed to `then` returned the promise that this `then` had returned.
    case returnedItself
}
