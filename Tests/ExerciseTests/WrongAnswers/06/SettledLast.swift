// Rejected: E06.1 settles twice
// The list is taken and called, and then it is written down that the promise is settled.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    /// What the promise ended with; `nil` as long as it is pending.
    private var outcome: Outcome?
    /// Who waits for the outcome, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { lock.withLock { outcome } }

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
        let waiting = lock.withLock { () -> [Handler] in
            guard self.outcome == nil else { return [] }
            defer { handlers = [] }
            return handlers
        }
        for handler in waiting { handler(outcome) }
        lock.withLock {
            if self.outcome == nil { self.outcome = outcome }
        }
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        let settled = outcome
        if settled == nil { handlers.append(handler) }
        lock.unlock()
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
