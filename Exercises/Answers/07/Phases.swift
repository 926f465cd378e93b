// A third state between pending and settled: settled, and somebody is calling. This is Stage 3's
// way.

import Synchronization

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private struct State {
        enum Phase {
            case pending
            /// Settled, and one thread is calling handlers.
            case calling(Outcome)
            /// Settled, and nobody waits.
            case settled(Outcome)
        }

        private var phase = Phase.pending
        /// Who waits to be called, in order of registration.
        private var handlers: [Handler] = []

        var outcome: Outcome? {
            switch phase {
            case .pending: nil
            case .calling(let outcome), .settled(let outcome): outcome
            }
        }

        /// Returns whether it is for the caller to call handlers.
        mutating func settle(_ outcome: Outcome) -> Bool {
            guard case .pending = phase else { return false }
            phase = .calling(outcome)
            return true
        }

        /// Returns the outcome if it is for the caller to call handlers.
        mutating func register(_ handler: @escaping Handler) -> Outcome? {
            handlers.append(handler)
            guard case .settled(let outcome) = phase else { return nil }
            phase = .calling(outcome)
            return outcome
        }

        /// Returns who is to be called now. If there is nobody, calling is over.
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
