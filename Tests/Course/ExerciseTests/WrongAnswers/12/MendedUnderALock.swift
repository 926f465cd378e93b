// Rejected: E12.7 called under a lock
// The order is kept by a second lock, which is held while handlers are called.

import Foundation
import Synchronization

public enum BugReport {
    public static let variant = 4
    /// The id of the hazard, such as "R05".
    public static let hazard = "R06"
    /// The interleaving, such as "SRRS".
    public static let schedule = "RSS"
}

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        /// The value or the error; `nil` while the promise is pending.
        var outcome: Outcome?
        /// The waiting handlers, in order of registration.
        var handlers: [Handler] = []
        /// The thread that is calling handlers. Handlers that are registered meanwhile wait in the list.
        var caller: Thread?
    }

    private let state = Mutex(State())
    private let turn = NSRecursiveLock()

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
        turn.lock()
        defer { turn.unlock() }
        let isFirst = state.withLock { state in
            guard state.outcome == nil else { return false }
            state.outcome = outcome
            state.caller = Thread.current
            return true
        }
        if isFirst { callHandlers(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        turn.lock()
        defer { turn.unlock() }
        let outcome = state.withLock { state -> Outcome? in
            if let outcome = state.outcome, state.caller !== Thread.current { return outcome }
            state.handlers.append(handler)
            return nil
        }
        if let outcome { handler(outcome) }
    }

    private func callHandlers(_ outcome: Outcome) {
        while let round = nextRound() {
            for handler in round { handler(outcome) }
        }
    }

    private func nextRound() -> [Handler]? {
        state.withLock { state in
            guard !state.handlers.isEmpty else {
                state.caller = nil
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
