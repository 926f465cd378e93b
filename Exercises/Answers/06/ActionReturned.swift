// The code behind the lock only reads and changes the state. It returns the action to carry out.

import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        /// The value or the error; `nil` while the promise is pending.
        var outcome: Outcome?
        /// The waiting handlers, in order of registration.
        private var handlers: [Handler] = []

        /// Returns the handlers to call now.
        mutating func settle(_ outcome: Outcome) -> [Handler] {
            guard self.outcome == nil else { return [] }
            self.outcome = outcome
            defer { handlers = [] }
            return handlers
        }

        /// Returns the outcome if the handler must be called now, and `nil` if it waits.
        mutating func register(_ handler: @escaping Handler) -> Outcome? {
            if outcome == nil { handlers.append(handler) }
            return outcome
        }
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
        let waiting = state.withLock { $0.settle(outcome) }
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = state.withLock { $0.register(handler) }
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
