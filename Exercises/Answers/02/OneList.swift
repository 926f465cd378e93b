// One list of functions that receive the outcome. A link of a chain and an error handler differ
// only in what they do with it, so one list is enough.

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    public private(set) var result: Outcome?
    /// The waiting handlers, in order of registration.
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
