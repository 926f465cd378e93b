// A handler stays on the list until it has returned. So the handlers of a settled promise are being
// called if its list is not empty, and a thread that adds to an empty list calls them.

import Dispatch

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let queue = DispatchQueue(label: "promise")
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { queue.sync { outcome } }

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
        let first = queue.sync { () -> Handler? in
            guard self.outcome == nil else { return nil }
            self.outcome = outcome
            return handlers.first
        }
        callHandlers(from: first, outcome)
    }

    private func observe(_ handler: @escaping Handler) {
        let settled = queue.sync { () -> Outcome? in
            handlers.append(handler)
            return handlers.count == 1 ? outcome : nil
        }
        if let settled { callHandlers(from: handler, settled) }
    }

    private func callHandlers(from first: Handler?, _ outcome: Outcome) {
        var next = first
        while let handler = next {
            handler(outcome)
            // The handler leaves the queue alive, and is freed here.
            let (_, following) = queue.sync { (handlers.removeFirst(), handlers.first) }
            next = following
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
