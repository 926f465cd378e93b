// Exercise 3 · Settle once
//
// This promise keeps a list of handlers and calls them in the order of registration. But it can
// settle again: after `resolve(1)` and `resolve(2)`, every handler has run twice, with two values.
// A promise is the promise of *one* outcome.
//
// Make it settle once. The first call of `resolve` or `reject` decides; later calls change nothing
// and call no handler, wherever they come from. The interface stays as it is: `init(block:)`,
// `then`, `error`, `result`. The class stays `public final`: the grader adds a conformance that a
// class with subclasses cannot have.
//
// There are two more requirements. Handlers are called in the order of registration even if one of
// them registers another: the new handler runs after all earlier handlers have returned, and not
// inside one of them. This applies to all handlers that are registered before the promise settles,
// or while such handlers are being called. And a promise may live long after it has settled: what
// its handlers have captured must be freed when no handler is left to call.
//
// There is one thread. Handlers run as they do now: inside the call that settles the promise, or,
// if they are registered after that call, inside `then` or `error`.
//
// Grade it with: swift run promise-lab grade 3

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    /// The value or the error; `nil` while the promise is pending.
    public private(set) var result: Outcome?
    /// The waiting handlers, in order of registration.
    private var handlers: [Handler] = []

    // Init.part

    private func settle(_ outcome: Outcome) {
        result = outcome
        for handler in handlers { handler(outcome) }
    }

    private func observe(_ handler: @escaping Handler) {
        if let result {
            handler(result)
        } else {
            handlers.append(handler)
        }
    }

    // Then.part
}
