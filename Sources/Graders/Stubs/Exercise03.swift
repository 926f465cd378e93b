// Exercise 3 · Settle once
//
// This promise has room for everyone: it keeps a list, and whoever waits is called in the order of
// registration. But nothing keeps it from settling again. `resolve(1)`, then `resolve(2)`, and
// every handler has run twice, with two values. A promise is the promise of *one* outcome.
//
// Make it settle once. The first call of `resolve` or `reject` decides; whatever comes after it
// changes nothing and calls nobody, wherever it comes from. The interface stays as it is:
// `init(block:)`, `then`, `error`, `result`.
//
// Two things more, since they belong to the same moment. Handlers are called in the order of their
// registration even if one of them registers another: that one has its turn when all who came
// before it have returned, and not inside of one of them. And a promise may live on for long after
// it has settled. What its handlers have captured should not, once there is nobody left to be
// called.
//
// There is one thread. Handlers run as they do now: inside the call that settles the promise, or
// inside `then` if it is settled and nobody is being called.
//
// Grade it with: swift run promise-lab grade 3

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
        result = outcome
        for handler in handlers { handler(outcome) }
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

    public func error(_ function: @escaping (any Error) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}
