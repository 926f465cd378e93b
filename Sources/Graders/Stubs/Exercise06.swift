// Exercise 6 · Do not call out under the lock
//
// This promise has a lock, and everything is done while it is held: looking, writing, and calling
// the handlers. So no handler is lost and none is called twice. It is a recursive lock, which lets
// a thread in again that holds it already: otherwise the first handler that uses its own promise
// would wait for itself.
//
// But a handler is somebody else's function, and may take its time. As long as it runs, every other
// thread that comes near the promise has to wait, if only to read its `result`. And if the handler
// waits for one of these threads, then all of them wait for ever.
//
// Make the promise let go of the lock before it runs anything that is not its own. All else has to
// stay: every handler is called exactly once, whoever comes first, and reading is as safe as
// writing. The interface stays as it is: `init(block:)`, `then`, `error`, `result`.
//
// Two things to watch: `then` and `error` call handlers, too, if the promise is settled; and when
// the last reference to a handler goes, so does what it has captured, and then a `deinit` runs that
// is somebody else's function as well.
//
// Handlers run inside the call that settles the promise, or inside `then` if it is settled already,
// so nothing can be sent away with `async`. In which order handlers run when threads meet is the
// matter of the next exercise.
//
// Grade it with: swift run promise-lab grade 6

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSRecursiveLock()
    /// What the promise ended with; `nil` as long as it is pending.
    private var outcome: Outcome?
    /// Who waits for the outcome, in order of registration.
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
        lock.lock()
        defer { lock.unlock() }
        guard self.outcome == nil else { return }
        self.outcome = outcome
        for handler in handlers { handler(outcome) }
        handlers = []
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        defer { lock.unlock() }
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
