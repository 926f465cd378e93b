import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// Attempts to take locks that another thread takes in a loop. A round that changes nothing but
/// locks makes no difference to the thread that makes it. But attempts of others can fail because
/// of it, and what they do then may depend on that.
@Suite("Attempts against a loop", .needsTheLab)
struct AttemptTests {
    /// Waits for the lock, but not longer than until some time.
    private struct PatientLock: Lock {
        let lock = NSLock()
        func fresh() -> Self { Self() }
        func hold(_ body: () -> Void) { lock.withLock(body) }

        func attempt() -> Bool {
            guard lock.lock(before: Date() + 3600) else { return false }
            lock.unlock()
            return true
        }
    }

    /// One thread takes two locks in each round of a loop; another one attempts to take them in
    /// turn, until it succeeds.
    private static func attempts(
        _ description: String, _ count: Int, _ lock: some Lock, timesOut: Bool = false
    ) -> KnownProgram {
        KnownProgram(
            "\(count) at \(description)", outcomes: Set((0...count).map(String.init)),
            options: .with { $0.timeOutsFireAtAnyTime = timesOut }
        ) { scenario in
            let (first, second, seen) = (lock.fresh(), lock.fresh(), Seen())
            let isOver = Box(Atomic(false))
            scenario.thread("holder") {
                while !isOver.value.load(ordering: .acquiring) {
                    first.hold {}
                    second.hold {}
                }
            }
            scenario.thread("attempts") {
                var failed = 0
                while failed < count, !(failed % 2 == 0 ? second : first).attempt() { failed += 1 }
                seen.note("\(failed)")
                isOver.value.store(true, ordering: .releasing)
            }
            scenario.outcome { seen.text }
        }
    }

    private static let programs = [1, 2, 6].flatMap {
        [
            attempts("an NSLock", $0, PlainLock()),
            attempts("a `Mutex`", $0, SwiftMutex()),
            attempts("a writer's lock", $0, WriterLock()),
            attempts("a reader's lock", $0, WriterLock(holdsToRead: true)),
            attempts("an NSLock, with a time limit", $0, PatientLock(), timesOut: true),
        ]
    }

    @Test("any number of attempts can fail in a row", arguments: programs)
    func fail(_ program: KnownProgram) { program.check() }

    /// Two threads take two locks in opposite order, and each backs off if the second is taken.
    @Test(
        "backing off is no livelock, and is explored in a moment",
        arguments: [true, false])
    func backsOff(yields: Bool) {
        let exploration = explore { scenario in
            let (first, second, counter) = (PlainLock(), PlainLock(), Counter())
            for (name, one, other) in [("up", first, second), ("down", second, first)] {
                scenario.thread(name) {
                    var isDone = false
                    while !isDone {
                        one.hold {
                            guard other.lock.try() else { return }
                            counter.value += 1
                            other.lock.unlock()
                            isDone = true
                        }
                        if yields { sched_yield() }
                    }
                }
            }
            scenario.check { try Scenario.require(counter.value == 2, "\(counter.value)") }
        }
        #expect(exploration.survives && exploration.explored < 5_000, "\(exploration.text())")
    }

    @Test("waits that are woken without a signal are explored in a moment", arguments: [2, 3])
    func wokenWithoutSignal(waiting: Int) {
        let exploration = explore(options: .with { $0.spuriousWakeups = true }) { scenario in
            let (condition, flag) = (NSCondition(), Counter())
            for number in 0..<waiting {
                scenario.thread("waits \(number)") {
                    condition.withLock { while flag.value == 0 { condition.wait() } }
                }
            }
            scenario.thread("signals") {
                condition.withLock {
                    flag.value = 1
                    condition.broadcast()
                }
            }
        }
        #expect(exploration.survives && exploration.explored < 5_000, "\(exploration.text())")
    }
}
