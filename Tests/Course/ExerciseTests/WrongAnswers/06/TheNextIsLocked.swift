// Rejected: E06.2 called under a lock
// The function of a `then` is called under the lock of the promise that it leads to.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSRecursiveLock()
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
        lock.lock()
        guard self.outcome == nil else { lock.unlock(); return }
        self.outcome = outcome
        let waiting = handlers
        handlers = []
        lock.unlock()
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        guard let settled = outcome else {
            handlers.append(handler)
            lock.unlock()
            return
        }
        lock.unlock()
        handler(settled)
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome in
            next.lock.lock()
            let result = Result { try function(outcome.get()) }
            next.lock.unlock()
            next.settle(result)
        }
        return next
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        observe { outcome in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}
