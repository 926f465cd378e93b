import Dispatch
import Synchronization

/// Decides when, and on which thread, the handlers of a promise run.
///
/// A promise hands over its handlers one after the other, in the order in which
/// they were registered. A dispatcher that runs them one at a time and first
/// come, first served, such as a serial queue, keeps that order.
public protocol Dispatcher: Sendable {
    /// Runs `work` exactly once, now or later, on a thread of its choice. It
    /// may be called from any thread, and from several at a time.
    ///
    /// A dispatcher that drops `work` leaves the next promise pending, and one
    /// that runs it now runs the links of a chain inside one another: a long
    /// chain exhausts the stack, unless ``runsImmediately`` says so instead.
    func dispatch(_ work: @escaping @Sendable () -> Void)

    /// Whether there is no need to go through `dispatch`: the handler may run
    /// here and now, on the thread that has the outcome. `false`, unless a
    /// dispatcher says otherwise.
    var runsImmediately: Bool { get }
}

extension Dispatcher {
    public var runsImmediately: Bool { false }
}

extension DispatchQueue: Dispatcher {
    /// Enqueues `work` and returns. On a serial queue handlers keep their
    /// order; on a concurrent one they start in order and run side by side.
    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        async(execute: work)
    }
}

/// Runs handlers on the thread that settles the promise, before the call that
/// settles it returns, or, once it is settled, before `then` returns. While one
/// thread is calling the handlers of a promise, those that another thread
/// registers are called by the first one, in their turn.
public struct ImmediateDispatcher: Dispatcher {
    public init() {}

    public var runsImmediately: Bool { true }

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        work()
    }
}

/// The dispatcher of every `then` and `error` that does not name one.
public enum DefaultDispatcher {
    private static let dispatcher = Mutex<any Dispatcher>(DispatchQueue.main)

    /// The main queue, unless you set another one. It is read when a handler
    /// is registered: those registered before a change keep what they had. It
    /// may be read and set on any thread.
    public static var current: any Dispatcher {
        get { dispatcher.withLock { $0 } }
        set {
            // The old one is freed after the lock is released: it is somebody
            // else's object, and what happens when it goes is not our affair.
            var replaced = newValue
            dispatcher.withLock { swap(&$0, &replaced) }
        }
    }
}
