// Rejected: refused
// Sound, but handlers run some time later: not what is asked for, and not what can be explored.

import Dispatch

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let queue = DispatchQueue(label: "promise")
    /// What the promise ended with; `nil` as long as it is pending.
    private var outcome: Outcome?
    /// Who waits for the outcome, in order of registration.
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
        queue.async {
            guard self.outcome == nil else { return }
            self.outcome = outcome
            let waiting = self.handlers
            self.handlers = []
            for handler in waiting { handler(outcome) }
        }
    }

    private func observe(_ handler: @escaping Handler) {
        queue.async {
            if let outcome = self.outcome {
                handler(outcome)
            } else {
                self.handlers.append(handler)
            }
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
