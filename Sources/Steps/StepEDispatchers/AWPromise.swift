import Dispatch
import Synchronization

/// Step E, dispatchers: a handler that runs on a `DispatchQueue` never runs
/// inside `then`.
///
/// What is still wrong: a promise whose two functions are released without a
/// call stays pending. Freeing a long pending chain overflows the stack.
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

    /// A handler and its dispatcher.
    private struct Entry {
        let dispatcher: any Dispatcher
        let handler: Handler

        func call(_ outcome: Outcome, _ callbacks: CallbackQueue?) {
            if dispatcher.runsImmediately {
                handler(outcome, callbacks)
            } else {
                // It runs later, so it cannot add to the queue of this call.
                dispatcher.dispatch { [handler] in handler(outcome, nil) }
            }
        }
    }

    /// Everything that changes.
    private struct State {
        var phase = Phase.pending
        /// The handlers not yet called, in order of registration.
        var entries: [Entry] = []
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
            let hasHandlers = !state.entries.isEmpty
            state.phase = hasHandlers ? .draining(outcome) : .settled(outcome)
            return hasHandlers
        }
        if hasHandlers {
            CallbackQueue.run(on: callbacks) { self.drain(outcome, $0) }
        }
    }

    /// Registers `handler`, which is called exactly once with the outcome.
    private func observe(
        on dispatcher: any Dispatcher, _ callbacks: CallbackQueue? = nil,
        _ handler: @escaping Handler
    ) {
        let entry = Entry(dispatcher: dispatcher, handler: handler)
        let outcome = state.withLock { state -> Outcome? in
            guard case .settled(let outcome) = state.phase else {
                // Still pending; or draining, and other handlers come first.
                state.entries.append(entry)
                return nil
            }
            state.phase = .draining(outcome)
            return outcome
        }
        if let outcome {
            entry.call(outcome, callbacks)
            drain(outcome, callbacks)
        }
    }

    /// Calls handlers until none are left. Only the thread that changed the
    /// phase to draining gets here, so no handler overtakes another.
    private func drain(_ outcome: Outcome, _ callbacks: CallbackQueue?) {
        var batch: [Entry]
        repeat {
            batch = state.withLock { state in
                if state.entries.isEmpty { state.phase = .settled(outcome) }
                defer { state.entries = [] }
                return state.entries
            }
            for entry in batch { entry.call(outcome, callbacks) }
        } while !batch.isEmpty
    }

    // MARK: - Chaining

    /// Calls `function` with the value, and returns a promise of its result.
    /// If `function` throws, or if this promise is rejected, the new promise
    /// is rejected with that error.
    ///
    /// `function` runs at most once, where `dispatcher` decides. On a dispatch
    /// queue, it runs neither inside this call nor inside the call that
    /// fulfills the promise.
    @discardableResult
    public func then<Next>(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (Value) throws -> Next
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe(on: dispatcher) { outcome, callbacks in
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
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        let next = AWPromise<Next>()
        observe(on: dispatcher) { outcome, callbacks in
            do {
                let inner = try function(outcome.get())
                guard inner !== next else { throw PromiseError.returnedItself }
                inner.observe(on: ImmediateDispatcher(), callbacks) {
                    next.settle($0, $1)
                }
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
    /// `function` runs at most once, where `dispatcher` decides.
    public func error(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping RejectFunction
    ) {
        observe(on: dispatcher) { outcome, _ in
            if case .failure(let error) = outcome { function(error) }
        }
    }
}

/// Decides when, and on which thread, the handlers of a promise run.
///
/// It receives them in the order of registration, which a serial queue keeps.
public protocol Dispatcher: Sendable {
    /// Runs `work` exactly once, later, on a thread of its choice. May be
    /// called on any thread, and on several at the same time. A dispatcher
    /// that drops `work` leaves the next promise pending.
    func dispatch(_ work: @escaping @Sendable () -> Void)

    /// Whether handlers run at once. If so, `dispatch` is never called.
    var runsImmediately: Bool { get }
}

extension Dispatcher {
    public var runsImmediately: Bool { false }
}

extension DispatchQueue: Dispatcher {
    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        async(execute: work)
    }
}

/// Runs handlers on the thread that settles the promise, or that is already
/// calling handlers. If there is no such thread any more, `then` runs them.
public struct ImmediateDispatcher: Dispatcher {
    public var runsImmediately: Bool { true }
    public init() {}
    public func dispatch(_ work: @escaping @Sendable () -> Void) { work() }
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
