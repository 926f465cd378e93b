import Dispatch
import Synchronization

/// Stage 3: a promise for any number of threads, settled through a resolver.
///
/// It may be settled, observed and released on any thread at any time, and
/// settles once. Each handler is called, or passed to its dispatcher, once and
/// in the order of registration. One lock protects all mutable state. While it
/// is held, no function of yours runs, and none is freed.
public final class AWPromise<Value: Sendable>: Sendable {
    public typealias Outcome = Result<Value, any Error>
    public typealias ResolveFunction = @Sendable (Value) -> Void
    public typealias RejectFunction = @Sendable (any Error) -> Void
    typealias Handler = @Sendable (Outcome, CallbackQueue?) -> Void

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

    /// A handler, its dispatcher, and the observer that identifies it.
    private struct Entry {
        let observer: Observer?
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

    private let state: Mutex<State>

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
    /// promise; all later calls are ignored. If both functions are released
    /// without a call, the promise is rejected with ``PromiseError/abandoned``.
    public convenience init(
        block: (
            _ resolve: @escaping ResolveFunction,
            _ reject: @escaping RejectFunction
        ) -> Void
    ) {
        self.init()
        let resolver = Resolver(self)
        block(resolver.fulfill, resolver.reject)
    }

    /// Makes a pending promise, and the resolver that settles it.
    public static func pending() -> (
        promise: AWPromise<Value>, resolver: Resolver<Value>
    ) {
        let promise = AWPromise<Value>()
        return (promise, Resolver(promise))
    }

    /// Makes a promise that is settled from the start.
    public init(_ outcome: Outcome) {
        state = Mutex(State(phase: .settled(outcome)))
    }

    /// Makes a pending promise that is settled by code in this module.
    init() { state = Mutex(State()) }

    // MARK: - Settling and observing

    /// Settles the promise, and returns whether this call was the first one.
    /// `callbacks` is the queue to add to. If it is `nil`, this call makes one.
    @discardableResult
    func settle(
        _ outcome: Outcome, _ callbacks: CallbackQueue? = nil
    ) -> Bool {
        let (isFirst, hasHandlers) = state.withLock { state in
            guard case .pending = state.phase else { return (false, false) }
            let hasHandlers = !state.entries.isEmpty
            state.phase = hasHandlers ? .draining(outcome) : .settled(outcome)
            return (true, hasHandlers)
        }
        if hasHandlers {
            CallbackQueue.run(on: callbacks) { self.drain(outcome, $0) }
        }
        return isFirst
    }

    /// Registers `handler`, which is called exactly once with the outcome,
    /// unless `observer` is withdrawn first.
    func observe(
        on dispatcher: any Dispatcher, _ callbacks: CallbackQueue? = nil,
        as observer: Observer? = nil, _ handler: @escaping Handler
    ) {
        let entry = Entry(
            observer: observer, dispatcher: dispatcher, handler: handler)
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

    /// Removes the handler of `observer`, and frees it after the unlock.
    func withdraw(_ observer: Observer) {
        _ = state.withLock { state in
            state.entries.firstIndex { $0.observer === observer }.map {
                state.entries.remove(at: $0)
            }
        }
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
    @discardableResult
    public func then<Next>(
        on dispatcher: any Dispatcher = DispatchQueue.main,
        _ function: @escaping @Sendable (Value) throws -> AWPromise<Next>
    ) -> AWPromise<Next> {
        continueWith(on: dispatcher) { try function($0.get()) }
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

/// Settles one promise.
///
/// The first call settles the promise, and runs its immediate handlers. Later
/// calls, on any thread, are ignored. If the resolver is freed first, nothing
/// else can settle the promise: it is rejected with ``PromiseError/abandoned``.
public final class Resolver<Value: Sendable>: Sendable {
    private let promise: AWPromise<Value>

    init(_ promise: AWPromise<Value>) { self.promise = promise }

    deinit { settle(.failure(PromiseError.abandoned)) }

    public func fulfill(_ value: Value) { settle(.success(value)) }
    public func reject(_ error: any Error) { settle(.failure(error)) }

    /// Returns whether it was this call that settled the promise.
    @discardableResult
    public func settle(_ outcome: AWPromise<Value>.Outcome) -> Bool {
        promise.settle(outcome)
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
final class CallbackQueue {
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
    /// The resolver was freed before it had settled the promise.
    case abandoned
}
