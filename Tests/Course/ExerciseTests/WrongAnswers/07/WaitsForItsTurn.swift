// Rejected: E07.1 deadlock
// A registration waits until the handlers have returned, even inside one of them.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSCondition()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []
    /// Whether a thread is calling handlers. It also calls those that are added meanwhile.
    private var isCallingHandlers = false

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
        isCallingHandlers = true
        let waiting = handlers
        handlers = []
        lock.unlock()
        for handler in waiting { handler(outcome) }
        lock.lock()
        isCallingHandlers = false
        lock.broadcast()
        lock.unlock()
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        while isCallingHandlers { lock.wait() }
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
