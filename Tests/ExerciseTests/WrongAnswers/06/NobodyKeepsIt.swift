// Rejected: E06.6 lost
// Who can settle it does not keep it, so a promise that nobody else keeps is gone before that.

import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        /// What the promise ended with; `nil` as long as it is pending.
        var outcome: Outcome?
        /// Who waits for the outcome, in order of registration.
        private var handlers: [Handler] = []

        /// Returns who is to be called now.
        mutating func settle(_ outcome: Outcome) -> [Handler] {
            guard self.outcome == nil else { return [] }
            self.outcome = outcome
            defer { handlers = [] }
            return handlers
        }

        /// Returns what the handler is to be called with now, if it does not have to wait.
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
            { [weak self] value in self?.settle(.success(value)) },
            { [weak self] error in self?.settle(.failure(error)) }
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
