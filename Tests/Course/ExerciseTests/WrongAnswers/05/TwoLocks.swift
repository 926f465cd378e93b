// Rejected: E05.4 lost
// One lock for the outcome and one for the list: each access is guarded, but check-then-act is not.

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
        let isFirst = outcomeLock.withLock { () -> Bool in
            defer { if self.outcome == nil { self.outcome = outcome } }
            return self.outcome == nil
        }
        guard isFirst else { return }
        let waiting = listLock.withLock { () -> [Handler] in
            defer { handlers = [] }
            return handlers
        }
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        if let settled = result {
            handler(settled)
        } else {
            listLock.withLock { handlers.append(handler) }
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
