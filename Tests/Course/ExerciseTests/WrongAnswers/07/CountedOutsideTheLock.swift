// Rejected: E07.7 deadlock
// An atomic counter has the number of requests to call handlers; the thread that raises it from 0
// calls all of them. That may be a thread that registers a late handler, which then waits inside
// `then` for an earlier handler.

import Foundation
import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    private let requests = Atomic(0)
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
        let isFirst = lock.withLock { () -> Bool in
            guard self.outcome == nil else { return false }
            self.outcome = outcome
            return true
        }
        if isFirst { deliver(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = lock.withLock { () -> Outcome? in
            handlers.append(handler)
            return outcome
        }
        if let settled { deliver(settled) }
    }

    private func deliver(_ outcome: Outcome) {
        guard requests.wrappingAdd(1, ordering: .acquiringAndReleasing).oldValue == 0 else {
            return
        }
        var answered = 1
        repeat {
            while let handler = takeFirst() { handler(outcome) }
            answered =
                requests.wrappingSubtract(answered, ordering: .acquiringAndReleasing).newValue
        } while answered > 0
    }

    private func takeFirst() -> Handler? {
        lock.withLock { handlers.isEmpty ? nil : handlers.removeFirst() }
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
