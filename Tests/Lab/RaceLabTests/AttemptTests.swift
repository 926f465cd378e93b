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
    /// What a thread does in each round of its loop, and an attempt of another one, which releases
    /// the lock again.
    private typealias Use = (take: () -> Void, attempt: () -> Bool)

    /// One thread takes two locks in each round of a loop; another one attempts to take them in
    /// turn, until it succeeds.
    private static func attempts(
        _ description: String, _ count: Int, timesOut: Bool = false,
        _ make: @escaping @Sendable () -> Use
    ) -> KnownProgram {
        KnownProgram(
            "\(count) at \(description)", outcomes: Set((0...count).map(String.init)),
            options: .with { $0.timeOutsFireAtAnyTime = timesOut }
        ) { scenario in
            let (first, second, seen) = (make(), make(), Seen())
            let isOver = Box(Atomic(false))
            scenario.thread("holder") {
                while !isOver.value.load(ordering: .acquiring) {
                    first.take()
                    second.take()
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

    private static func released(_ release: () -> Void) -> Bool {
        release()
        return true
    }

    private static let programs: [KnownProgram] = [1, 2, 6].flatMap { (count: Int) in
        [
            attempts("an NSLock", count) {
                let lock = NSLock()
                return ({ lock.withLock {} }, { lock.try() && released(lock.unlock) })
            },
            attempts("a `Mutex`", count) {
                let mutex = Box(Mutex(()))
                return (
                    { mutex.value.withLock { _ in } },
                    { mutex.value.withLockIfAvailable { _ in true } ?? false }
                )
            },
            attempts("a reader's lock", count) {
                let lock = ReadWriteLock()
                return ({ lock.read {} }, { lock.tryToWrite() && released(lock.unlock) })
            },
            attempts("an NSLock, with a time limit", count, timesOut: true) {
                let lock = NSLock()
                return (
                    { lock.withLock {} },
                    { lock.lock(before: Date() + 3600) && released(lock.unlock) }
                )
            },
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
            let (first, second, counter) = (NSLock(), NSLock(), Counter())
            for (name, one, other) in [("up", first, second), ("down", second, first)] {
                scenario.thread(name) {
                    var isDone = false
                    while !isDone {
                        one.withLock {
                            guard other.try() else { return }
                            counter.value += 1
                            other.unlock()
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
