public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        /// The value or the error; `nil` while the promise is pending.
        var outcome: Outcome?
        /// The waiting handlers, in order of registration.
        var handlers: [Handler] = []
        /// Whether a thread is calling handlers. Other threads add theirs to the list.
        var isCalling = false
    }

    private let state = Mutex(State())

    public var result: Outcome? { state.withLock { $0.outcome } }

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
        state.withLock { state in
            state.outcome = outcome
            state.isCalling = true
        }
        callHandlers(outcome)
    }

    private func observe(_ handler: @escaping Handler) {
        let outcome = state.withLock { state -> Outcome? in
            state.handlers.append(handler)
            if state.outcome == nil || state.isCalling { return nil }
            state.isCalling = true
            return state.outcome
        }
        if let outcome { callHandlers(outcome) }
    }

    private func callHandlers(_ outcome: Outcome) {
        while let round = nextRound() {
            for handler in round { handler(outcome) }
        }
    }

    private func nextRound() -> [Handler]? {
        state.withLock { state in
            guard !state.handlers.isEmpty else {
                state.isCalling = false
                return nil
            }
            defer { state.handlers = [] }
            return state.handlers
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
