import Dispatch
import Synchronization

/// Calls functions later. ``SystemClock`` is driven by the system,
/// ``ManualClock`` by a test; every operator that needs time accepts either.
///
/// (Swift's `Clock` only suspends tasks, and a test cannot know when a task has
/// been suspended.)
public protocol PromiseClock: Sendable {
    /// Calls `function` once, after `delay`, on a thread of the clock's choice
    /// and never inside this call. If the returned alarm is cancelled first,
    /// `function` is released without a call. May be called on any thread.
    func schedule(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) -> ClockAlarm
}

/// A scheduled call of a ``PromiseClock``. Releasing it cancels nothing.
public struct ClockAlarm: Sendable {
    private let cancellation: @Sendable () -> Void

    public init(cancellation: @escaping @Sendable () -> Void) {
        self.cancellation = cancellation
    }

    /// Cancels the call, unless it has begun. May be called more than once, and
    /// on any thread.
    public func cancel() { cancellation() }
}

/// The system's clock. It stops while the machine sleeps.
public struct SystemClock: PromiseClock {
    private let queue: DispatchQueue

    /// `queue` is where the functions are called: promises are settled there,
    /// and immediate handlers run there.
    public init(queue: DispatchQueue = .global()) { self.queue = queue }

    public func schedule(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) -> ClockAlarm {
        let timer = Timer(queue: queue)
        timer.start(after: delay, function)
        return ClockAlarm { timer.cancel() }
    }
}

/// A dispatch timer that any thread may cancel. (A cancelled `DispatchWorkItem`
/// is released only when its time has come.)
private final class Timer: Sendable {
    private let source: Mutex<any DispatchSourceTimer>

    init(queue: DispatchQueue) {
        source = Mutex(DispatchSource.makeTimerSource(queue: queue))
    }

    func start(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) {
        source.withLock { source in
            // The timer retains itself until it has fired or is cancelled.
            source.setEventHandler {
                self.cancel()
                function()
            }
            source.schedule(deadline: .now() + delay.dispatchInterval)
            source.resume()
        }
    }

    func cancel() { source.withLock { $0.cancel() } }
}

extension Duration {
    /// The same duration, within what a dispatch interval can express.
    var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(
            by: 1_000_000_000)
        let (nanoseconds, isLonger) = product.addingReportingOverflow(
            attoseconds / 1_000_000_000)
        guard !isTooLong, !isLonger else {
            return seconds < 0 ? .nanoseconds(0) : .never
        }
        return .nanoseconds(Int(nanoseconds))
    }
}
