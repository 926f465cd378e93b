import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// Behavior that the lab explores on request. Each has a classic with a bug that only then shows.
@Suite("Behavior that is explored on request", .needsTheLab)
struct LibertyTests {
    struct Liberty: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: Exploration.Finding.Kind
        let take: @Sendable (inout Exploration.Options) -> Void
        let describe: @Sendable (Scenario) -> Void
        /// The same code without the bug.
        let corrected: @Sendable (Scenario) -> Void
    }

    static let all: [Liberty] = [
        Liberty(
            testDescription: "a time-out fires while the work is being done", kind: .failedCheck,
            take: { $0.timeOutsFireAtAnyTime = true }, describe: handOver(cancels: false),
            corrected: handOver(cancels: true)),
        Liberty(
            testDescription: "a signal wakes the thread that has waited for less long",
            kind: .deadlock, take: { $0.signalsWakeAnyWaiter = true },
            describe: twoWaiters(wakesAll: false), corrected: twoWaiters(wakesAll: true)),
        Liberty(
            testDescription: "a condition wakes a thread without a signal", kind: .failedCheck,
            take: { $0.spuriousWakeups = true }, describe: oneWaiter(checksAgain: false),
            corrected: oneWaiter(checksAgain: true)),
    ]

    private static func exploration(
        _ describe: @escaping (Scenario) -> Void, _ take: (inout Exploration.Options) -> Void,
        reduction: Bool
    ) -> Exploration {
        var options = Exploration.Options()
        options.failingKinds = [.failedCheck, .deadlock, .livelock]
        options.reduction = reduction
        take(&options)
        return explore(options: options, describe)
    }

    @Test("finds the bug, only on request, and replays it", arguments: all, [false, true])
    func showsBug(_ liberty: Liberty, reduction: Bool) throws {
        let without = Self.exploration(liberty.describe, { _ in }, reduction: reduction)
        #expect(without.survives, "\(without.text())")
        let exploration = Self.exploration(liberty.describe, liberty.take, reduction: reduction)
        #expect(exploration.findings.map(\.kind) == [liberty.kind], "\(exploration.text())")
        #expect(exploration.coverage == .all)
        let finding = try #require(exploration.findings.first)
        let trace = try exploration.replay(finding.schedule.text(threads: exploration.threads))
        #expect(trace.schedule == finding.schedule)
        #expect(trace.findings.contains { $0.kind == liberty.kind })
        let corrected = Self.exploration(liberty.corrected, liberty.take, reduction: reduction)
        #expect(corrected.survives, "\(corrected.text())")
    }

    @Test("two waits that may time out are explored once", arguments: waits)
    func waitsOnce(_ program: KnownProgram) { program.check() }

    /// Without reduction there are 280, and 332.
    private static let waits = [
        twoWaits("for a semaphore", ["s t", "t s", "t t"], 1...100) {
            let semaphore = DispatchSemaphore(value: 0)
            return ({ semaphore.wait(timeout: $0) }, { semaphore.signal() })
        },
        twoWaits("for a group", ["s s", "s t", "t s", "t t"], 1...100) {
            let group = DispatchGroup()
            group.enter()
            return ({ group.wait(timeout: $0) }, { group.leave() })
        },
        KnownProgram(
            "until a deadline that is checked under a lock", explored: 1...20,
            options: .with { $0.timeOutsFireAtAnyTime = true }
        ) { scenario in
            let (lock, count) = (NSLock(), Counter())
            scenario.thread("waits") {
                let deadline = ContinuousClock.now + .seconds(1)
                while lock.withLock({ ContinuousClock.now < deadline }) {}
            }
            scenario.thread("counts") {
                for _ in 0..<2 { lock.withLock { count.value += 1 } }
            }
        },
    ]

    private typealias Wait = @Sendable (DispatchTime) -> DispatchTimeoutResult

    private static func twoWaits(
        _ description: String, _ outcomes: Set<String>, _ explored: ClosedRange<Int>,
        _ make: @escaping @Sendable () -> (wait: Wait, release: @Sendable () -> Void)
    ) -> KnownProgram {
        KnownProgram(
            description, outcomes: outcomes, explored: explored,
            options: .with { $0.timeOutsFireAtAnyTime = true }, everyOrder: true
        ) { scenario in
            let (things, first, second) = (make(), Seen(), Seen())
            scenario.thread("releases") { things.release() }
            for (name, seen) in [("first", first), ("second", second)] {
                scenario.thread(name) {
                    seen.note(things.wait(.now() + 1) == .success ? "s" : "t")
                }
            }
            scenario.outcome { "\(first.text) \(second.text)" }
        }
    }

    /// Where nothing waits with a time limit, and nothing for a condition, the liberties change
    /// nothing, not even the number of runs.
    @Test("liberties that no code could take cost nothing", arguments: [false, true])
    func costsNothing(takesAll: Bool) {
        var options = Exploration.Options()
        options.timeOutsFireAtAnyTime = takesAll
        options.signalsWakeAnyWaiter = takesAll
        options.spuriousWakeups = takesAll
        options.maximumRuns = 6
        let exploration = explore(options: options) { scenario in
            let (mutex, counters) = (NSLock(), [Counter(), Counter(), Counter()])
            for (name, counter) in zip(["first", "second", "third"], counters) {
                scenario.thread(name) {
                    mutex.withLock {}
                    counter.value += 1
                }
            }
        }
        #expect(exploration.coverage == .all && exploration.explored == 6, "\(exploration.text())")
    }

    // MARK: Classics

    /// A worker hands over a result to a client that waits for it with a time-out. A client whose
    /// wait times out must cancel the work, or the result arrives anyway.
    private static func handOver(cancels: Bool) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (done, lock) = (DispatchSemaphore(value: 0), NSLock())
            let (result, cancelled, givenUp) = (Counter(), Counter(), Counter())
            scenario.thread("worker") {
                lock.withLock { if cancelled.value == 0 { result.value = 1 } }
                done.signal()
            }
            scenario.thread("client") {
                if done.wait(timeout: .now() + 3600) == .success { return }
                lock.withLock {
                    guard result.value == 0 else { return }
                    if cancels { cancelled.value = 1 }
                    givenUp.value = 1
                }
            }
            scenario.check {
                try Scenario.require(
                    givenUp.value == 0 || result.value == 0, "given up, and yet there is a result")
            }
        }
    }

    /// Two threads wait on one condition for different changes; one signal is meant for the first.
    private static func twoWaiters(wakesAll: Bool) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (condition, isFirstHere) = (NSCondition(), DispatchSemaphore(value: 0))
            let turn = Counter()
            scenario.thread("first") {
                condition.lock()
                isFirstHere.signal()
                while turn.value < 1 { condition.wait() }
                turn.value = 2
                condition.broadcast()
                condition.unlock()
            }
            scenario.thread("second") {
                isFirstHere.wait()
                condition.lock()
                while turn.value < 2 { condition.wait() }
                condition.unlock()
            }
            scenario.thread("third") {
                condition.lock()
                turn.value = max(1, turn.value)
                if wakesAll { condition.broadcast() } else { condition.signal() }
                condition.unlock()
            }
        }
    }

    /// A thread waits until an item is available, and takes it.
    private static func oneWaiter(checksAgain: Bool) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (condition, stock, isEmpty) = (NSCondition(), Counter(), Counter())
            scenario.thread("consumer") {
                condition.lock()
                if checksAgain {
                    while stock.value == 0 { condition.wait() }
                } else if stock.value == 0 {
                    condition.wait()
                }
                isEmpty.value = stock.value == 0 ? 1 : 0
                stock.value -= 1
                condition.unlock()
            }
            scenario.thread("producer") {
                condition.lock()
                stock.value += 1
                condition.signal()
                condition.unlock()
            }
            scenario.check { try Scenario.require(isEmpty.value == 0, "taken from an empty stock") }
        }
    }
}
