// Exercise 5 · Lock it
//
// This is the promise of Stage 2, slightly shortened. On one thread it settles once and calls every
// handler once. (It does not keep the order if a handler registers another one; exercise 7 is about
// that.) Chapter 4 of the Tutorial shows what happens with two threads: a handler that is never
// called, or called twice, and two threads that modify the same list at the same time.
//
// Make it safe to settle, observe and read the promise from any thread. Every handler must be
// called exactly once, in every interleaving. The interface stays as it is: `init(block:)`, `then`,
// `error`, `result`. The class stays `public final`: the grader adds a conformance that a class
// with subclasses cannot have. Any correct technique is accepted: a `Mutex`, an `NSLock`, a serial
// queue, an atomic.
//
// Two things to watch. A check of the state, and the action that depends on it, must be one
// critical section. And threads that use two different promises must not wait for each other.
//
// Handlers run as they do now: inside the call that settles the promise, or inside `then` if it is
// already settled. So no work may be dispatched with `async`. As now, a handler may use its own
// promise: read the `result`, settle it again, or register other handlers. The next two exercises
// are about calling handlers outside the lock, and about their order when one thread registers a
// handler while another settles the promise. A promise that nothing refers to is freed.
//
// Grade it with: swift run promise-lab grade 5

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    private var outcome: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    public var result: Outcome? { outcome }

    // Init.part

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

    // Then.part
}
