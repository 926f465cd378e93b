// Rejected: E06.6 called under a lock
// The list that is called leaves the lock. The other list is emptied under it.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>

    private let lock = NSLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The handlers for the value, and the handlers for the error.
    private var handlers: [(Value) -> Void] = []
    private var errorHandlers: [(any Error) -> Void] = []

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
        guard self.outcome == nil else { return lock.unlock() }
        self.outcome = outcome
        switch outcome {
        case .success(let value):
            let waiting = handlers
            handlers = []
            errorHandlers = []
            lock.unlock()
            for handler in waiting { handler(value) }
        case .failure(let error):
            let waiting = errorHandlers
            handlers = []
            errorHandlers = []
            lock.unlock()
            for handler in waiting { handler(error) }
        }
    }

    private func observe(
        _ handler: @escaping (Value) -> Void, _ errorHandler: @escaping (any Error) -> Void
    ) {
        lock.lock()
        let settled = outcome
        if settled == nil {
            handlers.append(handler)
            errorHandlers.append(errorHandler)
        }
        lock.unlock()
        switch settled {
        case nil: break
        case .success(let value): handler(value)
        case .failure(let error): errorHandler(error)
        }
    }

    @discardableResult
    public func then<Next>(
        _ function: @escaping (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe(
            { value in next.settle(Result { try function(value) }) },
            { error in next.settle(.failure(error)) }
        )
        return next
    }

    public func error(_ function: @escaping (any Error) -> Void) {
        observe({ _ in }, function)
    }
}
