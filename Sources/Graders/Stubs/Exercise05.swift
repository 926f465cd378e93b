// Exercise 5 · Lock it
//
// This is the promise of Stage 2, a little shorter. On one thread it is correct. Chapter 4 of the
// Tutorial has shown what two threads make of it: a handler that is never called, or called twice,
// and two threads in the middle of the same list.
//
// Make it safe to settle, observe and read from any thread. Every handler has to be called exactly
// once, whoever comes first. The interface stays as it is: `init(block:)`, `then`, `error`,
// `result`. Any sound technique will do: a `Mutex`, an `NSLock`, a serial queue, an atomic.
//
// Two things to watch: whatever is decided by looking at the state has to be done before anybody
// else can change it; and threads that use two different promises must not have to wait for each
// other.
//
// Handlers run as they do now: inside the call that settles the promise, or inside `then` if it is
// settled already, so nothing can be sent away with `async`. Whether a lock is held meanwhile, and
// in which order handlers run when threads meet, is the matter of the next two exercises.
//
// Grade it with: swift run promise-lab grade 5

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// What the promise ended with; `nil` as long as it is pending.
    private var outcome: Outcome?
    /// Who waits for the outcome, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { outcome }

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
        guard self.outcome == nil else { return }
        self.outcome = outcome
        let waiting = handlers
        handlers = []
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        if let outcome {
            handler(outcome)
        } else {
            handlers.append(handler)
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
