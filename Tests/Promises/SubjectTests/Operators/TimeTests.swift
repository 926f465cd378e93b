import Foundation
import PromiseOperators
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@Suite("Time")
struct TimeTests {
    let clock = ManualClock()

    // MARK: the clocks

    @Test("a manual clock calls in the order of time, including calls scheduled meanwhile")
    func manualClock() {
        let calls = Scenario.Log<String>()
        let clock = clock
        let schedule = { @Sendable (seconds: Int, name: String) in
            clock.schedule(after: .seconds(seconds)) { calls.append("\(name) \(clock.now)") }
        }
        _ = schedule(2, "two")
        _ = schedule(1, "one")
        _ = schedule(2, "two again")
        schedule(1, "cancelled").cancel()
        _ = clock.schedule(after: .seconds(1)) { _ = schedule(1, "nested") }
        #expect(clock.waiting == 4)
        clock.advance(by: .milliseconds(500))
        #expect(calls.entries == [])
        clock.advance(by: .seconds(10))
        #expect(
            calls.entries == [
                "one 1.0 seconds", "two 2.0 seconds", "two again 2.0 seconds",
                "nested 2.0 seconds",
            ])
        #expect(clock.now == .seconds(10) + .milliseconds(500))
        #expect(clock.waiting == 0)
    }

    @Test("the system clock calls once, in the order of time, and makes no cancelled call")
    func systemClock() async throws {
        let calls = try await onOwnThread {
            // On a busy machine time may pass while the calls are scheduled, so they may come in
            // another order. Then they are scheduled again.
            while true {
                if let calls = callsOfSystemClock() { return calls }
            }
        }
        #expect(calls == ["first", "second"])
    }

    /// `nil` if the first time had passed before everything was scheduled.
    private func callsOfSystemClock() -> [String]? {
        let clock = SystemClock(queue: DispatchQueue(label: "clock"))
        let calls = Scenario.Log<String>()
        let done = DispatchSemaphore(value: 0)
        let start = ContinuousClock.now
        let cancelled = clock.schedule(after: .milliseconds(10)) { calls.append("cancelled") }
        cancelled.cancel()
        cancelled.cancel()
        _ = clock.schedule(after: .milliseconds(20)) {
            calls.append("second")
            done.signal()
        }
        _ = clock.schedule(after: .zero) { calls.append("first") }
        let isInTime = ContinuousClock.now - start < .milliseconds(10)
        done.wait()
        return isInTime ? calls.entries : nil
    }

    // MARK: after, delay

    @Test("after is fulfilled when its time has come, and never inside the call")
    func after() {
        let promise = AWPromise<Void>.after(.seconds(1), clock: clock)
        let none = AWPromise<Void>.after(.zero, clock: clock)
        #expect(none.result == nil)
        clock.advance(by: .milliseconds(999))
        #expect(none.settledValue != nil)
        #expect(promise.result == nil)
        clock.advance(by: .milliseconds(1))
        #expect(promise.settledValue != nil)
    }

    @Test("delay counts from the moment of the value; an error does not wait")
    func delay() {
        let (promise, resolver) = AWPromise<Int>.pending()
        let delayed = promise.delay(.seconds(1), clock: clock)
        clock.advance(by: .seconds(5))
        resolver.fulfill(7)
        #expect(delayed.result == nil)
        clock.advance(by: .seconds(1))
        #expect(delayed.settledValue == 7)
        let rejected = AWPromise<Int>.rejected(Trouble.here).delay(.seconds(1), clock: clock)
        #expect(rejected.trouble == .here)
    }

    // MARK: timeout

    @Test("timeout rejects after its time, and does not affect the promise")
    func timeout() {
        let (promise, resolver) = AWPromise<Int>.pending()
        let limited = promise.timeout(after: .seconds(1), clock: clock)
        clock.advance(by: .seconds(1))
        #expect(words(limited.failure) == "timedOut")
        resolver.fulfill(7)
        #expect(promise.settledValue == 7)
        #expect(words(limited.failure) == "timedOut")
    }

    @Test("a promise that settles in time cancels the timer, with either outcome")
    func inTime() {
        let (first, firstResolver) = AWPromise<Int>.pending()
        let (second, secondResolver) = AWPromise<Int>.pending()
        let value = first.timeout(after: .seconds(1), clock: clock)
        let error = second.timeout(after: .seconds(1), clock: clock)
        let settled = AWPromise.fulfilled(1).timeout(after: .seconds(1), clock: clock)
        #expect(clock.waiting == 2)
        firstResolver.fulfill(7)
        secondResolver.reject(Trouble.here)
        #expect(clock.waiting == 0)
        #expect(value.settledValue == 7)
        #expect(error.trouble == .here)
        #expect(settled.settledValue == 1)
    }

    private struct StoppedClock: PromiseClock {
        func schedule(
            after delay: Duration, _ function: @escaping @Sendable () -> Void
        ) -> ClockAlarm { ClockAlarm {} }
    }

    /// In a child process: a stack overflow would end this one.
    @Test("30,000 nested time-outs settle, reject, and are abandoned", .waitsForProcesses)
    func manyTimeouts() async {
        await #expect(processExitsWith: .success) {
            for outcome in [Result<Int, any Error>.success(1), .failure(Trouble.here), nil] {
                var (last, resolver): (AWPromise<Int>, Resolver<Int>?) = AWPromise.pending()
                for _ in 0..<30_000 {
                    last = last.timeout(after: .seconds(1), clock: StoppedClock())
                }
                if let outcome { resolver?.settle(outcome) }
                resolver = nil
                guard last.result != nil else { exit(EXIT_FAILURE) }
            }
        }
    }

    @Test("a timer keeps no promise alive")
    func timerKeepsNothing() {
        weak var source: AWPromise<Int>?
        weak var limited: AWPromise<Int>?
        do {
            // Its dispatcher drops the work, so this promise never settles.
            struct Nowhere: Dispatcher {
                func dispatch(_ work: @escaping @Sendable () -> Void) {}
            }
            let promise = AWPromise.fulfilled(1).then(on: Nowhere()) { $0 }
            source = promise
            limited = promise.timeout(after: .seconds(1), clock: clock)
            #expect(clock.waiting == 1)
            #expect(source != nil)
        }
        #expect(source == nil)
        #expect(limited == nil)
        #expect(clock.waiting == 0)
    }

    // MARK: retry

    @Test("retry stops at the first success")
    func retry() {
        let attempts = Scenario.Log<Int>()
        let promise = AWPromise<String>.retry(attempts: 5, clock: clock, on: here) { number in
            attempts.append(number)
            return number < 3 ? .rejected(Trouble.here) : .fulfilled("at last")
        }
        #expect(attempts.entries == [1])
        clock.advance(by: .seconds(1))
        #expect(attempts.entries == [1, 2])
        #expect(promise.result == nil)
        clock.advance(by: .seconds(1))
        #expect(promise.settledValue == "at last")
        #expect(clock.waiting == 0)
    }

    @Test("retry ends with the last error, after the maximum of attempts")
    func retriesExhausted() {
        let errors = [Trouble.here, .there, .elsewhere]
        let promise = AWPromise<Int>.retry(
            attempts: 3, delay: { _ in .zero }, clock: clock, on: here
        ) { number in throw errors[number - 1] }
        clock.advance(by: .zero)
        #expect(promise.trouble == .elsewhere)
        let once = AWPromise<Int>.retry(attempts: 1, clock: clock, on: here) { _ in
            .rejected(Trouble.here)
        }
        #expect(once.trouble == .here)
    }

    @Test("retry stops if its condition is false, and after a cancellation")
    func retryCondition() {
        let refused = AWPromise<Int>.retry(
            attempts: 9, clock: clock, on: here, while: { $0 as? Trouble != .here }
        ) { _ in .rejected(Trouble.here) }
        #expect(refused.trouble == .here)
        let thrown = AWPromise<Int>.retry(
            attempts: 9, clock: clock, on: here, while: { _ in throw Trouble.there }
        ) { _ in .rejected(Trouble.here) }
        #expect(thrown.trouble == .there)
        let cancelled = AWPromise<Int>.retry(attempts: 9, clock: clock, on: here) { _ in
            .rejected(CancellationError())
        }
        #expect(cancelled.failure is CancellationError)
        #expect(clock.waiting == 0)
    }

    @Test("20,000 attempts that fail at once do not deepen the stack")
    func manyAttempts() {
        let promise = AWPromise<Int>.retry(
            attempts: 20_000, delay: { _ in .zero }, clock: clock, on: here
        ) { _ in .rejected(Trouble.here) }
        clock.advance(by: .zero)
        #expect(promise.trouble == .here)
    }
}
