import Foundation
import RaceLab
import Testing

/// Sleeps order nothing, but tasks wake up in the order of their times, and clocks go on.
@Suite("Sleeps", .needsTheLab)
struct SleepTests {
    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs: [KnownProgram] = [
        lateBeginning(1, 2), lateBeginning(2, 2), lateBeginning(2, 1),
        three([1, 2, 3]), three([3, 3, 1]), clock(isTask: true), clock(isTask: false),
        lateStart("a look at the clock") { date, _ in Date() > date },
        lateStart("a look at the clock of Dispatch") { _, time in DispatchTime.now() > time },
        lateStart("a sleep") { date, _ in
            usleep(1)
            return Date() > date
        },
        timeOut, underLock, afterItsOwn,
    ]

    private static func lateBeginning(_ first: Int, _ second: Int) -> KnownProgram {
        KnownProgram(
            "a task may begin after another one has slept for longer: \(first), \(second)",
            outcomes: ["A B", "B A"], everyOrder: true
        ) { scenario in
            let (seen, lock) = (Seen(), NSLock())
            scenario.task("A") {
                lock.withLock { seen.note("A") }
                try await Task.sleep(for: .seconds(first))
            }
            scenario.task("B") {
                try await Task.sleep(for: .seconds(second))
                lock.withLock { seen.note("B") }
            }
            scenario.outcome { seen.text }
        }
    }

    private static func three(_ times: [Int]) -> KnownProgram {
        KnownProgram(
            "three tasks that sleep, and then do something: \(times)",
            outcomes: [
                "first 0 1 2", "first 0 2 1", "first 1 0 2", "first 1 2 0", "first 2 0 1",
                "first 2 1 0", "1 first 0 2", "1 first 2 0", "2 first 0 1", "2 first 1 0",
                "1 2 first 0", "2 1 first 0",
            ], everyOrder: true
        ) { scenario in
            let (seen, lock) = (Seen(), NSLock())
            for (index, time) in times.enumerated() {
                scenario.task("\(index)") {
                    if index == 0 { lock.withLock { seen.note("first") } }
                    try await Task.sleep(for: .seconds(time))
                    lock.withLock { seen.note("\(index)") }
                }
            }
            scenario.outcome { seen.text }
        }
    }

    private static func clock(isTask: Bool) -> KnownProgram {
        KnownProgram(
            "whether a time is over depends on who has slept, a task: \(isTask)",
            outcomes: ["false", "true"], everyOrder: true
        ) { scenario in
            let (begin, seen) = (Date(), Seen())
            let (lock, other) = (NSLock(), NSLock())
            scenario.thread("A") {
                lock.lock()
                let over = Date().timeIntervalSince(begin) > 10
                lock.unlock()
                seen.note("\(over)")
            }
            if isTask {
                scenario.task("B") { try await Task.sleep(for: .seconds(20)) }
            } else {
                scenario.thread("B") {
                    other.withLock {}
                    Thread.sleep(forTimeInterval: 20)
                    other.withLock {}
                }
            }
            scenario.outcome { seen.text }
        }
    }

    private static func lateStart(
        _ beginning: String, isOver: @escaping @Sendable (Date, DispatchTime) -> Bool
    ) -> KnownProgram {
        KnownProgram(
            "a thread that begins with \(beginning) may begin after another one has slept",
            outcomes: ["false", "true"], everyOrder: true
        ) { scenario in
            let (seen, lock) = (Seen(), NSLock())
            let (date, time) = (Date() + 10, DispatchTime.now() + 10)
            scenario.thread("sleeper") { Thread.sleep(forTimeInterval: 20) }
            scenario.thread("A") {
                let isOver = isOver(date, time)
                lock.withLock { seen.note("\(isOver)") }
            }
            scenario.outcome { seen.text }
        }
    }

    private static let underLock = KnownProgram(
        "a thread sleeps under a lock before another one looks at the clock under it",
        outcomes: ["1 false", "1 true"], everyOrder: true
    ) { scenario in
        let (seen, lock, date) = (Seen(), NSLock(), Date() + 1)
        scenario.thread("looks") {
            lock.withLock {
                seen.note("1")
                NSLock().withLock {}
                seen.note("\(Date() > date)")
                NSLock().withLock {}
            }
        }
        scenario.thread("sleeps") { lock.withLock { Thread.sleep(forTimeInterval: 2) } }
        scenario.outcome { seen.text }
    }

    private static let afterItsOwn = KnownProgram(
        "another thread may sleep before a thread sleeps and looks at the clock",
        outcomes: ["false", "true"], everyOrder: true
    ) { scenario in
        let (seen, date) = (Seen(), Date() + 1.5)
        scenario.thread("looks") {
            Thread.sleep(forTimeInterval: 1)
            seen.note("\(Date() > date)")
        }
        scenario.thread("sleeps") { Thread.sleep(forTimeInterval: 1) }
        scenario.outcome { seen.text }
    }

    private static let timeOut = KnownProgram(
        "a wait may time out before another thread begins", outcomes: ["A B", "B A"],
        options: .with { $0.timeOutsFireAtAnyTime = true }, everyOrder: true
    ) { scenario in
        let (seen, lock, group) = (Seen(), NSLock(), DispatchGroup())
        let (semaphore, soon) = (DispatchSemaphore(value: 0), DispatchTime.now() + 1)
        scenario.thread("A") {
            lock.withLock { seen.note("A") }
            _ = semaphore.wait(timeout: soon)
        }
        scenario.thread("B") {
            group.enter()
            _ = group.wait(timeout: soon)
            lock.withLock { seen.note("B") }
            group.leave()
        }
        scenario.outcome { seen.text }
    }

    @Test("the step with which a thread begins has its line")
    func line() throws {
        let replay = try Exploration.replay(prefix: "") { scenario in
            scenario.thread("A") { Thread.sleep(forTimeInterval: 1) }
            scenario.task("B") { try await Task.sleep(for: .seconds(1)) }
            scenario.thread("C") { _ = DispatchTime.now() }
        }
        let lines = replay.trace.steps.filter { $0.kind == .begin }.map(\.text)
        #expect(
            lines == [
                #"scenario.thread("A") { Thread.sleep(forTimeInterval: 1) }"#,
                #"scenario.task("B") { try await Task.sleep(for: .seconds(1)) }"#,
                #"scenario.thread("C") { _ = DispatchTime.now() }"#,
            ])
    }

    @Test("sleeps that no one can tell apart are explored once")
    func cost() {
        let exploration = explore { scenario in
            for index in 0..<3 {
                scenario.thread("\(index)") {
                    NSLock().withLock {}
                    Thread.sleep(forTimeInterval: 1)
                }
            }
        }
        #expect(exploration.explored == 1 && exploration.redundant == 0)
    }
}
