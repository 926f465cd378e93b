// Exercise 7 · Keep the order across a settle
//
// This promise decides under its lock, and calls handlers after it has released it. So there is a
// moment at which the promise is settled, but its waiting handlers have not been called yet. A
// handler that is registered at that moment is called at once, and overtakes all of them. This
// happens with two threads, and with one thread as well, if a handler registers another.
//
// Make the promise call its handlers one at a time, in the order of registration. This applies to
// all handlers that are registered before the promise settles, or while such handlers are being
// called, at any depth. A handler that is registered later is called inside `then` or `error`, as
// now; one that it registers may also be called after it. The interface stays as it is:
// `init(block:)`, `then`, `error`, `result`. The class stays `public final`: the grader needs that.
//
// Two things to watch. No lock may be held while a handler runs or is freed, and no thread may wait
// for a handler to return, except the thread that calls it. And there is a critical moment: when
// the thread that calls handlers finds none left, another thread may be about to register one. That
// handler must not be lost.
//
// No work may be dispatched with `async`: a handler that is waiting when the promise settles is
// called inside the call that settles it. A handler that is added while others are being called may
// be called there, too. Threads that use two different promises must not wait for each other. And a
// promise that nothing refers to is freed, with all that its handlers have captured.
//
// Grade it with: swift run promise-lab grade 7

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { lock.withLock { outcome } }

    // Init.part

    private func settle(_ outcome: Outcome) {
        lock.lock()
        guard self.outcome == nil else { return lock.unlock() }
        self.outcome = outcome
        let waiting = handlers
        handlers = []
        lock.unlock()
        for handler in waiting { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        lock.lock()
        let settled = outcome
        if settled == nil { handlers.append(handler) }
        lock.unlock()
        if let settled { handler(settled) }
    }

    // Then.part
}
