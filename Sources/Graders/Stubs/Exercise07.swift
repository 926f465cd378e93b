// Exercise 7 · Keep the order across a settle
//
// This promise decides under its lock, and calls handlers when it has let go of it. So there is a
// moment at which it is settled, and those who have waited for it have not been called yet. Whoever
// comes at that moment finds the outcome, is called at once, and has overtaken all of them. It
// happens with two threads; it happens with one as well, if a handler registers another.
//
// Make the promise call its handlers in the order in which they were registered: who was there
// first is called first, and has returned when the next one is called, for as long as anybody is
// left who came before the promise settled, or while those were being called. Who comes after that
// is called inside `then` or `error`, as now. The interface stays as it is: `init(block:)`, `then`,
// `error`, `result`.
//
// Two things to watch: no lock may be held while a handler runs or is freed, and nobody may have to
// wait for a handler to return, except who calls it. And there is a last moment: when whoever is
// calling looks for the next handler and finds nobody. Who comes then must not be forgotten.
//
// Nothing can be sent away with `async`: who waited when the promise settled is called inside the
// call that has settled it. Who joins them while they are called may well be called there, too.
//
// Grade it with: swift run promise-lab grade 7

import Foundation

public final class AWPromise<Value> {
    public typealias Outcome = Result<Value, any Error>
    private typealias Handler = (Outcome) -> Void

    private let lock = NSLock()
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
