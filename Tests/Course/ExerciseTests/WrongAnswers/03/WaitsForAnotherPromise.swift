// Rejected: E03.1 lost
// While one promise calls handlers, a late handler of another, settled promise is stored for later.

nonisolated(unsafe) private var draining = 0

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    public private(set) var result: Outcome?
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
        draining += 1
        while !handlers.isEmpty { handlers.removeFirst()(outcome) }
        draining -= 1
    }

    private func observe(_ handler: @escaping Handler) {
        if let result, draining == 0 { handler(result) } else { handlers.append(handler) }
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
