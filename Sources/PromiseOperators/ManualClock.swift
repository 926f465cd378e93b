import Synchronization

/// A clock that moves only when it is advanced, for tests of code that waits.
///
/// ```swift
/// let clock = ManualClock()
/// let late = promise.timeout(after: .seconds(60), clock: clock)
/// clock.advance(by: .seconds(60))     // now `late` is rejected
/// ```
public final class ManualClock: PromiseClock {
    private struct Call {
        let due: Duration
        let number: Int
        let function: @Sendable () -> Void
    }

    private struct State {
        var now = Duration.zero
        var calls: [Call] = []
        var callsSoFar = 0

        /// Removes the next call that is due, and moves the clock to it.
        mutating func nextCall(until end: Duration) -> Call? {
            let next = calls.indices.min {
                let (left, right) = (calls[$0], calls[$1])
                return (left.due, left.number) < (right.due, right.number)
            }
            guard let next, calls[next].due <= end else {
                now = max(now, end)
                return nil
            }
            now = max(now, calls[next].due)
            return calls.remove(at: next)
        }
    }

    private let state = Mutex(State())

    public init() {}

    /// The time on this clock, which starts at zero.
    public var now: Duration { state.withLock { $0.now } }

    /// The number of scheduled calls. A test can check that none is left.
    public var waiting: Int { state.withLock { $0.calls.count } }

    public func schedule(
        after delay: Duration, _ function: @escaping @Sendable () -> Void
    ) -> ClockAlarm {
        let number = state.withLock { state in
            state.callsSoFar += 1
            state.calls.append(
                Call(
                    due: state.now + delay, number: state.callsSoFar,
                    function: function))
            return state.callsSoFar
        }
        return ClockAlarm { self.cancel(number) }
    }

    /// Makes all calls that become due, on this thread, in order of time; those
    /// due at the same time in order of scheduling. Calls that are scheduled
    /// meanwhile are included. If two threads advance the clock at the same
    /// time, only the longer duration may count.
    public func advance(by duration: Duration) {
        let end = now + duration
        while let call = state.withLock({ $0.nextCall(until: end) }) {
            call.function()
        }
    }

    private func cancel(_ number: Int) {
        // The function leaves the state here, and is freed after the unlock.
        _ = state.withLock { state in
            state.calls.firstIndex { $0.number == number }.map {
                state.calls.remove(at: $0)
            }
        }
    }
}
