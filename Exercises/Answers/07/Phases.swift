// A third phase between pending and settled: settled, and a thread is calling handlers. This is how
// Stage 3 works.

import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        enum Phase {
            case pending
            /// Settled, and one thread is calling handlers.
            case calling(Outcome)
            /// Settled, and no handler waits.
            case settled(Outcome)
        }

        private var phase = Phase.pending
        /// The waiting handlers, in order of registration.
        private var handlers: [Handler] = []

        var outcome: Outcome? {
            switch phase {
            case .pending: nil
            case .calling(let outcome), .settled(let outcome): outcome
            }
        }

        /// Returns whether the caller must call the handlers.
        mutating func settle(_ outcome: Outcome) -> Bool {
            guard case .pending = phase else { return false }
            phase = .calling(outcome)
            return true
        }

        /// Returns the outcome if the caller must call the handlers.
        mutating func register(_ handler: @escaping Handler) -> Outcome? {
            handlers.append(handler)
            guard case .settled(let outcome) = phase else { return nil }
            phase = .calling(outcome)
            return outcome
        }

        /// Returns the handlers to call now. If there are none, the phase of calling ends.
        mutating func next() -> Handler? {
            if handlers.isEmpty, case .calling(let outcome) = phase { phase = .settled(outcome) }
            return handlers.isEmpty ? nil : handlers.removeFirst()
        }
    }

    private let state = Mutex(State())

    public var result: Outcome? { state.withLock { $0.outcome } }

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
        if state.withLock({ $0.settle(outcome) }) { callHandlers(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        if let settled = state.withLock({ $0.register(handler) }) { callHandlers(settled) }
    }

    private func callHandlers(_ outcome: Outcome) {
        while let handler = state.withLock({ $0.next() }) { handler(outcome) }
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
