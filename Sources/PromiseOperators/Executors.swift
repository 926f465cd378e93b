import Dispatch
import Foundation

// Where handlers can run, besides a `DispatchQueue` (of which `.main` is one)
// and `ImmediateDispatcher`. All of this is in Bolts, as executors.

extension OperationQueue: Dispatcher {
    /// Adds `work` as an operation. One at a time, they keep their order;
    /// a queue with more room starts them in order, side by side. A suspended
    /// queue lets them wait, and cancelling all its operations drops them.
    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        addOperation(work)
    }
}

/// Runs handlers in whatever way its function does: on a thread of your own,
/// on a run loop, with an undo group around them.
public struct ClosureDispatcher: Dispatcher {
    private let function: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// `function` may be called from any thread, and has to call what it is
    /// given exactly once, now or later.
    public init(
        _ function: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        self.function = function
    }

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        function(work)
    }
}

/// A serial queue that knows itself, so that ``AWPromise/wait()`` can refuse to
/// block it. (A `DispatchQueue` cannot be asked whether it is serial, nor
/// whether the code that asks is running on it.)
public struct SerialQueue: Dispatcher {
    private static let mark = DispatchSpecificKey<Bool>()

    public let queue: DispatchQueue

    public init(label: String, qos: DispatchQoS = .unspecified) {
        self.init(DispatchQueue(label: label, qos: qos))
    }

    /// Puts its mark on a serial queue. It is there for good, whichever
    /// dispatcher later sends work to the queue.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
        queue.setSpecific(key: Self.mark, value: true)
    }

    /// The main queue is one, too.
    public static let main = SerialQueue(.main)

    public func dispatch(_ work: @escaping @Sendable () -> Void) {
        queue.dispatch(work)
    }

    /// Whether this code runs on a queue that it must not block: the main
    /// queue, a marked one, or an operation queue that runs one at a time.
    static var isCurrent: Bool {
        _ = main
        let operations = OperationQueue.current?.maxConcurrentOperationCount
        return operations == 1 || DispatchQueue.getSpecific(key: mark) == true
    }
}
