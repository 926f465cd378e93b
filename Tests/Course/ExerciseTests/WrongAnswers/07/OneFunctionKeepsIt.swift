// Rejected: E07.1 lost
// Only one of the two functions that settle the promise keeps it.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    private var isCalling = false
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
            { [weak self] value in self?.settle(.success(value)) },
            { error in self.settle(.failure(error)) }
        )
    }

    private init() {}

    private func settle(_ outcome: Outcome) {
        lock.lock()
        guard self.outcome == nil else { return lock.unlock() }
        self.outcome = outcome
        isCalling = true
        lock.unlock()
        drain(outcome)
    }

    private func drain(_ outcome: Outcome) {
        while let handler = pop() { handler(outcome) }
    }

    private func pop() -> Handler? {
        lock.lock()
        defer { lock.unlock() }
        if handlers.isEmpty {
            isCalling = false
            return nil
        }
        return handlers.removeFirst()
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        guard let outcome, !isCalling else {
            handlers.append(handler)
            return lock.unlock()
        }
        lock.unlock()
        handler(outcome)
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
