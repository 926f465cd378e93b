// The list stays open until the thread that has settled the promise finds it empty, and closes it.
// A new handler waits on an open list; with a closed list, it is called at once.

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []
    /// Whether all handlers on the list have been called, and no more are added.
    private var isClosed = false

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
        lock.unlock()
        while let handler = takeFirstOrClose() { handler(outcome) }
    }

    private func takeFirstOrClose() -> Handler? {
        lock.lock()
        defer { lock.unlock() }
        isClosed = handlers.isEmpty
        return isClosed ? nil : handlers.removeFirst()
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        let settled = isClosed ? outcome : nil
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
