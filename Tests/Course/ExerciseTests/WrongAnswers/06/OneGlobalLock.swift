// Rejected: E06.8 over-synchronized
// Handlers run outside the lock, but all promises share one lock.

import Foundation

private let theLock = NSLock()

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

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
        theLock.lock()
        guard self.outcome == nil else { return theLock.unlock() }
        self.outcome = outcome
        let waiting = handlers
        handlers = []
        theLock.unlock()
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        theLock.lock()
        let settled = outcome
        if settled == nil { handlers.append(handler) }
        theLock.unlock()
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
