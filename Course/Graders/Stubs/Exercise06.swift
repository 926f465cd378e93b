// Exercise 6 · Do not call out under the lock
//
// This promise holds its lock for everything that it does: reading, writing, and calling the
// handlers. So no handler is lost, and none is called twice. The lock is recursive, which means
// that a thread that holds it can take it again: otherwise the first handler that uses its own
// promise would deadlock.
//
// But a handler is unknown code, and may take long. While it runs, every other thread that uses the
// promise waits, even to read its `result`. And if the handler waits for one of these threads, all
// of them wait forever.
//
// Make the promise release the lock before it runs any code that is not its own. Everything else
// stays: every handler is called exactly once, in every interleaving, and reading is as safe as
// writing. The interface stays as it is: `init(block:)`, `then`, `error`, `result`. The class stays
// `public final`: the grader adds a conformance that a class with subclasses cannot have.
//
// Two things to watch. `then` and `error` call handlers, too, if the promise is settled. And when
// the last reference to a handler is released, what it has captured is freed, and then a `deinit`
// runs that is unknown code as well.
//
// Handlers run inside the call that settles the promise, or inside `then` if it is settled: nothing
// is dispatched with `async`. Threads that use two different promises do not wait for each other.
// With one thread, handlers keep their order; order across threads is a subject of exercise 7. And
// a promise that nothing refers to is freed, with all that its handlers have captured.
//
// Grade it with: swift run promise-lab grade 6

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSRecursiveLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { lock.withLock { outcome } }

    // Init.part

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

    // Then.part
}
