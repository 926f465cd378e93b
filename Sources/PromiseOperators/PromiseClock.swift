import Dispatch
import Synchronization

/// Calls functions later. There is one that the system drives, and one that a
/// test turns by hand; whatever has to do with time here takes either.
///
/// (Swift's own `Clock` can only put a task to sleep, and no test could say
/// when that task has fallen asleep, and may be woken.)
public protocol PromiseClock: Sendable {
    /// Calls `function` once, when `delay` has passed, on a thread of the
    /// clock's choice and never inside this call. When the returned alarm is
    /// cancelled before, the function is freed uncalled. May be called from any
    /// thread.
    func schedule(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) -> ClockAlarm
}

/// A call that a clock is going to make. It may be dropped: the call stands.
public struct ClockAlarm: Sendable {
    private let cancellation: @Sendable () -> Void

    public init(cancellation: @escaping @Sendable () -> Void) {
        self.cancellation = cancellation
    }

    /// Does nothing if the call is being made or has been. May be called more
    /// than once, and on any thread.
    public func cancel() {
        cancellation()
    }
}

/// The system's clock. Its time stands still while the machine sleeps.
public struct SystemClock: PromiseClock {
    private let queue: DispatchQueue

    /// `queue` is where the functions are called: promises are settled there,
    /// and immediate handlers run there.
    public init(queue: DispatchQueue = .global()) {
        self.queue = queue
    }

    public func schedule(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) -> ClockAlarm {
        let timer = Timer(queue: queue)
        timer.start(after: delay, function)
        return ClockAlarm { timer.cancel() }
    }
}

/// A timer of the system's that may be cancelled on any thread. (A work item
/// would be simpler, but a cancelled one is kept until its time has come.)
private final class Timer: Sendable {
    private let source: Mutex<any DispatchSourceTimer>

    init(queue: DispatchQueue) {
        source = Mutex(DispatchSource.makeTimerSource(queue: queue))
    }

    func start(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) {
        let (seconds, attoseconds) = delay.components
        source.withLock { source in
            // It holds on to itself until it has fired, or is cancelled.
            source.setEventHandler {
                self.cancel()
                function()
            }
            source.schedule(
                deadline: .now() + .seconds(Int(seconds))
                    + .nanoseconds(Int(attoseconds / 1_000_000_000)))
            source.resume()
        }
    }

    func cancel() {
        source.withLock { $0.cancel() }
    }
}
