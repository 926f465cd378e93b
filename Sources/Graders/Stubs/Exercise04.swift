// Exercise 4 · Flatten
//
// This promise settles once and has room for everyone. Its `then` maps: what the function returns
// is the value of the next promise. If a function returns a promise, that makes a promise of a
// promise, with which nobody can do anything.
//
// The second `then` below is for such functions, and it does nothing: the promise that it returns
// is never settled. Make it end as the promise ends that the function returns, whether that one is
// settled long since, or later, or never; with its value, or with its error. Errors from above, and
// errors that the function throws, travel as they do with the other `then`. The interface stays as
// it is: `init(block:)`, both `then`s, `error`, `result`.
//
// Two things to watch: the promise that the function returns belongs to somebody else, who may have
// handlers on it, too; and by way of a variable a function can return the very promise that its own
// `then` has returned. That one would wait for itself for ever. It has to be rejected instead, with
// `PromiseError.returnedItself`.
//
// There is one thread.
//
// Grade it with: swift run promise-lab grade 4

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// What the promise ended with; `nil` as long as it is pending.
    public private(set) var result: Outcome?
    /// Who waits for the outcome, in order of registration.
    private var handlers: [Handler] = []

    public init(
        block: (
            _ resolve: @escaping (Value) -> Void,
            _ reject: @escaping (any Error) -> Void
        ) -> Void
    ) {
        block(
            { value in self.settle(.success(value)) },
            { error in self.settle(.failure(error)) }
        )
    }

    private init() {}

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
        // Nobody settles it.
        AWPromise<Next>()
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}

/// What a promise itself can have to complain of.
public enum PromiseError: Error {
    /// A function passed to `then` returned the promise that this `then` had returned before.
    case returnedItself
}
