// Rejected: refused
// An actor can only be used with `await`, so no handler runs inside the call that settles.

public actor AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    public private(set) var result: Outcome?
    private var handlers: [(Outcome) -> Void] = []

    public init() {}

    private func settle(_ outcome: Outcome) {
        guard result == nil else { return }
        result = outcome
        for handler in handlers { handler(outcome) }
        handlers = []
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        handlers.append { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}
