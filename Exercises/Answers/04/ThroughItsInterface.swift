// Uses only the public interface: the inner promise settles the next one through `then` and
// `error`.

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
        let next = AWPromise<Next>()
        then { value in
            let inner = try function(value)
            guard inner !== next else { throw PromiseError.returnedItself }
            inner.then { next.settle(.success($0)) }
            inner.error { next.settle(.failure($0)) }
        }
        .error { next.settle(.failure($0)) }
        return next
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
