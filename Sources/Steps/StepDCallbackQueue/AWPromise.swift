import Synchronization

/// Step D, a queue of callbacks: a long chain needs no more stack than a short
/// one.
///
/// Until now a handler that settled the next promise of a chain called that
/// promise's handlers, and so on: a chain of a million links was a million
/// calls deep. Now it adds one callback to a queue and returns. (So the
/// handlers of the next promise run later: a handler must not wait for them.)
///
/// What is still wrong: a handler runs before `then` returns if the promise is
/// already settled, and later if it is not.
public final class AWPromise<Value: Sendable>: Sendable {
    public typealias Outcome = Result<Value, any Error>
    public typealias ResolveFunction = @Sendable (Value) -> Void
    public typealias RejectFunction = @Sendable (any Error) -> Void
    private typealias Handler = @Sendable (Outcome, CallbackQueue?) -> Void

    private enum Phase {
        /// Will become draining, or settled if there are no handlers.
        case pending
        /// Settled, and one thread is calling the handlers. Will become
        /// settled when that thread finds none left.
        case draining(Outcome)
        /// Settled, and no handler is left. Will become draining again for a
        /// handler that is registered late.
        case settled(Outcome)
    }

    /// Everything that changes.
    private struct State {
        var phase = Phase.pending
        /// The handlers not yet called, in order of registration.
        var handlers: [Handler] = []
    }

    private let state = Mutex(State())

    /// The value or the error; `nil` while the promise is pending. A `nil` may
    /// be out of date by the time you look at it; an outcome never is.
    public var result: Outcome? {
        state.withLock { state in
            switch state.phase {
            case .pending: nil
            case .draining(let outcome), .settled(let outcome): outcome
            }
        }
    }

    /// Runs `block` at once, on the calling thread, and passes it two
    /// functions: `resolve` for success and `reject` for failure. Both may be
    /// called on any thread. The first call of either function settles the
    /// promise; all later calls are ignored.
    public init(
        block: (
            _ resolve: @escaping ResolveFunction,
            _ reject: @escaping RejectFunction
        ) -> Void
    ) {
        block(
            { value in self.settle(.success(value)) },
            { error in self.settle(.failure(error)) }
        )
    }

    /// Makes a pending promise that is settled by code in this file.
    private init() {}

    // MARK: - Settling and observing

    /// Settles the promise. Later calls do nothing. `callbacks` is the queue to
    /// add to. If it is `nil`, this call makes one.
    private func settle(
        _ outcome: Outcome, _ callbacks: CallbackQueue? = nil
    ) {
        let hasHandlers = state.withLock { state in
            guard case .pending = state.phase else { return false }
            let hasHandlers = !state.handlers.isEmpty
            state.phase = hasHandlers ? .draining(outcome) : .settled(outcome)
            return hasHandlers
        }
        if hasHandlers {
            CallbackQueue.run(on: callbacks) { self.drain(outcome, $0) }
        }
    }

    /// Registers `handler`, which is called exactly once with the outcome.
    private func observe(
        _ callbacks: CallbackQueue? = nil, _ handler: @escaping Handler
    ) {
        let outcome = state.withLock { state -> Outcome? in
            guard case .settled(let outcome) = state.phase else {
                // Still pending; or draining, and other handlers come first.
                state.handlers.append(handler)
                return nil
            }
            state.phase = .draining(outcome)
            return outcome
        }
        if let outcome {
            handler(outcome, callbacks)
            drain(outcome, callbacks)
        }
    }

    /// Calls handlers until none are left. Only the thread that changed the
    /// phase to draining gets here, so no handler overtakes another.
    private func drain(_ outcome: Outcome, _ callbacks: CallbackQueue?) {
        var batch: [Handler]
        repeat {
            batch = state.withLock { state in
                if state.handlers.isEmpty { state.phase = .settled(outcome) }
                defer { state.handlers = [] }
                return state.handlers
            }
            for handler in batch { handler(outcome, callbacks) }
        } while !batch.isEmpty
    }

    // MARK: - Chaining

    /// Calls `function` with the value, and returns a promise of its result.
    /// If `function` throws, or if this promise is rejected, the new promise
    /// is rejected with that error.
    ///
    /// `function` runs at most once. The thread that settles the promise calls
    /// it, or the thread that is already calling handlers. If there is no such
    /// thread any more, it runs before `then` returns.
    @discardableResult
    public func then<Next>(
        _ function: @escaping @Sendable (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome, callbacks in
            next.settle(Result { try function(outcome.get()) }, callbacks)
        }
        return next
    }

    /// Calls `function` with the value, and returns a promise that settles as
    /// the promise returned by `function` does. This is `flatMap`; the other
    /// `then` is `map`. Errors are handled in the same way.
    ///
    /// If `function` returns the very promise that this `then` has returned,
    /// that promise would wait for itself forever. It is rejected with
    /// ``PromiseError/returnedItself`` instead.
    @discardableResult
    public func then<Next>(
        _ function: @escaping @Sendable (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe { outcome, callbacks in
            do {
                let inner = try function(outcome.get())
                guard inner !== next else { throw PromiseError.returnedItself }
                inner.observe(callbacks) { next.settle($0, $1) }
            } catch {
                next.settle(.failure(error), callbacks)
            }
        }
        return next
    }

    /// Ends a chain: calls `function` with the error that rejects this promise,
    /// which may come from a promise before it. It can be called any number of
    /// times, at any time, and does not affect any `then`.
    ///
    /// `function` runs at most once, where a handler of `then` would run.
    public func error(_ function: @escaping RejectFunction) {
        observe { outcome, _ in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}

/// The callbacks that a thread still has to run.
///
/// A handler that settles the next promise of a chain does not call that
/// promise's handlers: it adds a callback to the queue and returns. So a chain
/// of a million links needs no more stack than a chain of one. (The idea comes
/// from swift-nio's `CallbackList`.)
private final class CallbackQueue {
    typealias Callback = (CallbackQueue?) -> Void

    private var waiting: [Callback] = []

    /// Adds `callback` to `queue`. If that is `nil`, makes a queue, calls
    /// `callback`, and then every callback that is added to it, in order.
    static func run(on queue: CallbackQueue?, _ callback: @escaping Callback) {
        if let queue { return queue.waiting.append(callback) }
        let queue = CallbackQueue()
        var batch = [callback]
        while !batch.isEmpty {
            for callback in batch { callback(queue) }
            batch.removeAll(keepingCapacity: true)
            swap(&batch, &queue.waiting)
        }
    }
}

/// The errors of the promise itself.
public enum PromiseError: Error {
    /// A function returned the very promise that was made for its result.
    case returnedItself
}
