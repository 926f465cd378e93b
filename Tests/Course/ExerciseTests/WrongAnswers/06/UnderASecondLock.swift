// Rejected: E06.6 called under a lock
// The lock of the state is released, but a second lock is held while handlers are called.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    /// Held by the thread that calls handlers.
    private let calling = NSRecursiveLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
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
        calling.withLock {
            let waiting = lock.withLock { () -> [Handler] in
                guard self.outcome == nil else { return [] }
                self.outcome = outcome
                defer { handlers = [] }
                return handlers
            }
            for handler in waiting { handler(outcome) }
        }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = lock.withLock { () -> Outcome? in
            if outcome == nil { handlers.append(handler) }
            return outcome
        }
        if let settled { calling.withLock { handler(settled) } }
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
