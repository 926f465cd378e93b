// Rejected: E07.9 kept alive
// An index into the list keeps the order, but the list only grows.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []
    /// Whether a thread is calling handlers. It also calls those that are added meanwhile.
    private var isCallingHandlers = false
    /// The number of handlers that have been called.
    private var called = 0

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
        let isFirst = lock.withLock { () -> Bool in
            guard self.outcome == nil else { return false }
            self.outcome = outcome
            isCallingHandlers = true
            return true
        }
        if isFirst { callHandlers(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = lock.withLock { () -> Outcome? in
            handlers.append(handler)
            guard let outcome, !isCallingHandlers else { return nil }
            isCallingHandlers = true
            return outcome
        }
        if let settled { callHandlers(settled) }
    }

    private func callHandlers(_ outcome: Outcome) {
        while let handler = next() { handler(outcome) }
    }

    private func next() -> Handler? {
        lock.withLock {
            guard called < handlers.count else {
                isCallingHandlers = false
                return nil
            }
            called += 1
            return handlers[called - 1]
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
