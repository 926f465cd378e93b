// The state is inside the Mutex, so that no code can access it without the lock.

import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        /// The value or the error; `nil` while the promise is pending.
        var outcome: Outcome?
        /// The waiting handlers, in order of registration.
        var handlers: [Handler] = []
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
        let waiting = state.withLock { state -> [Handler] in
            guard state.outcome == nil else { return [] }
            state.outcome = outcome
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = state.withLock { state -> Outcome? in
            if state.outcome == nil { state.handlers.append(handler) }
            return state.outcome
        }
        if let settled { handler(settled) }
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
