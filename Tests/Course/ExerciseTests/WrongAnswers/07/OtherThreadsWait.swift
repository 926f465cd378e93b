// Rejected: E07.6 deadlock
// A handler that another handler registers joins the list. Other threads wait until all handlers
// have returned.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSCondition()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []
    /// The thread that is calling handlers.
    private var caller: Thread?

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
        caller = Thread.current
        while !handlers.isEmpty {
            let handler = handlers.removeFirst()
            lock.unlock()
            handler(outcome)
            lock.lock()
        }
        caller = nil
        lock.broadcast()
        lock.unlock()
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        while caller != nil, caller !== Thread.current { lock.wait() }
        let settled = caller == nil ? outcome : nil
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
