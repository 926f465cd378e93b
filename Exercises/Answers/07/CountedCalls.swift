// A counter of the calls that are due. The thread that raises it from 0 calls the handlers until it
// is 0 again.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []
    /// The number of calls that are due in a settled promise, including the current one.
    private var dueCalls = 0

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
        let isOurs = lock.withLock { () -> Bool in
            guard self.outcome == nil else { return false }
            self.outcome = outcome
            dueCalls = handlers.count
            return dueCalls > 0
        }
        if isOurs { callHandlers(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = lock.withLock { () -> Outcome? in
            handlers.append(handler)
            guard let outcome else { return nil }
            dueCalls += 1
            return dueCalls == 1 ? outcome : nil
        }
        if let settled { callHandlers(settled) }
    }

    private func callHandlers(_ outcome: Outcome) {
        repeat {
            let handler = lock.withLock { handlers.removeFirst() }
            handler(outcome)
        } while lock.withLock {
            dueCalls -= 1
            return dueCalls > 0
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
