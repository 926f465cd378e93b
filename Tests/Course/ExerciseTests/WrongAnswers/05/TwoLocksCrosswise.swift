// Rejected: E05.4 deadlock
// Two locks, each taken while the other is held, in opposite order.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let outcomeLock = NSLock()
    private let listLock = NSLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { outcomeLock.withLock { outcome } }

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
        outcomeLock.lock()
        listLock.lock()
        let isFirst = self.outcome == nil
        let waiting = handlers
        if isFirst {
            self.outcome = outcome
            handlers = []
        }
        listLock.unlock()
        outcomeLock.unlock()
        if isFirst { for handler in waiting { handler(outcome) } }
    }

    private func observe(_ handler: @escaping Handler) {
        listLock.lock()
        outcomeLock.lock()
        let settled = outcome
        if settled == nil { handlers.append(handler) }
        outcomeLock.unlock()
        listLock.unlock()
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
