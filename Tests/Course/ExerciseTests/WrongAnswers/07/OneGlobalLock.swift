// Rejected: E07.8 over-synchronized
// In order, and handlers run outside the lock, but all promises share one lock.

import Foundation

private let theLock = NSLock()

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []
    /// Whether a thread is calling handlers. It also calls those that are added meanwhile.
    private var isCallingHandlers = false

    public var result: Outcome? { theLock.withLock { outcome } }

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
        let isFirst = theLock.withLock { () -> Bool in
            guard self.outcome == nil else { return false }
            self.outcome = outcome
            isCallingHandlers = true
            return true
        }
        if isFirst { callHandlers(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = theLock.withLock { () -> Outcome? in
            handlers.append(handler)
            guard let outcome, !isCallingHandlers else { return nil }
            isCallingHandlers = true
            return outcome
        }
        if let settled { callHandlers(settled) }
    }

    /// Called by the thread that has set the flag. Clears it when the list is empty.
    private func callHandlers(_ outcome: Outcome) {
        while let round = nextRound() {
            for handler in round { handler(outcome) }
        }
    }

    private func nextRound() -> [Handler]? {
        theLock.withLock {
            guard !handlers.isEmpty else {
                isCallingHandlers = false
                return nil
            }
            defer { handlers = [] }
            return handlers
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
