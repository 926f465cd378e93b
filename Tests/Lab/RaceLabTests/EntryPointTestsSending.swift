import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls work that is sent to dispatch queues", .needsTheLab)
struct SendingEntryPointTests {
    @Test("has its known result", arguments: orders + deadlocks + concurrentWork + others)
    func known(_ program: KnownProgram) { program.check() }

    private static let orders = [
        KnownProgram(
            "work runs in the order of sending, and after what its sender did before",
            outcomes: [
                "first sees 1, second, other", "first sees 1, other, second",
                "other, first sees 1, second",
            ]
        ) { scenario in
            let queue = DispatchQueue(label: "serial")
            let (shared, log) = (Shared(), Scenario.Log<String>())
            scenario.thread("sender") {
                shared.value = 1
                queue.async { log.append("first sees \(shared.value)") }
                queue.async { log.append("second") }
            }
            scenario.thread("other") { queue.sync { log.append("other") } }
            scenario.outcome { log.entries.joined(separator: ", ") }
        },
        KnownProgram("synchronous work runs after what the same thread has sent to a serial queue")
        {
            write($0, to: DispatchQueue(label: "serial"))
        },
        KnownProgram("and to the main queue") { write($0, to: .main) },
        KnownProgram("and as barriers to a concurrent queue") {
            write($0, to: concurrent(), flags: .barrier)
        },
        KnownProgram("but not on a concurrent queue", .failedCheck, .overlap, .dataRace) {
            write($0, to: concurrent())
        },
        KnownProgram(
            "synchronous and asynchronous work of two threads run in either order",
            outcomes: ["work, waiting", "waiting, work"]
        ) { scenario in
            let (queue, log) = (DispatchQueue(label: "serial"), Scenario.Log<String>())
            scenario.thread("sender") { queue.async { log.append("work") } }
            scenario.thread("waiting") { queue.sync { log.append("waiting") } }
            scenario.outcome { log.entries.joined(separator: ", ") }
        },
        KnownProgram("a barrier waits for earlier work, and later work waits for the barrier") {
            scenario in
            let queue = concurrent()
            let log = Scenario.Log<String>()
            scenario.thread("sender") {
                queue.async { log.append("before") }
                queue.async(flags: .barrier) { log.append("barrier") }
                queue.async { log.append("after") }
            }
            scenario.thread("other") { queue.sync { log.append("other") } }
            scenario.check {
                let sent = log.entries.filter { $0 != "other" }
                try Scenario.require(sent == ["before", "barrier", "after"], "out of order")
            }
        },
        KnownProgram("work accesses what its sender accesses after sending: a data race", .overlap)
        { scenario in
            let queue = DispatchQueue(label: "serial")
            let shared = Shared()
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                shared.value = 2
            }
        },
        // It orders nothing, even if the first piece of work has already run by then.
        KnownProgram("a time-out does not order two pieces of concurrent work", .overlap) {
            scenario in
            let queue = concurrent()
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: 0))
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                _ = semaphore.wait(timeout: .now() + 3600)
                queue.async { shared.value = 2 }
            }
        },
    ]

    private static let deadlocks = [
        KnownProgram(
            "a reader that waits for its queue behind a barrier, which waits for it: a deadlock",
            .deadlock, reason: ["for what came to the queue 'concurrent' before"]
        ) { scenario in
            let queue = concurrent()
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            scenario.thread("sender") {
                queue.async {
                    queue.async(flags: .barrier) { shared.value = 1 }
                    queue.sync { _ = shared.value }
                }
            }
            scenario.thread("other") { log.append(1) }
        },
        KnownProgram(
            "a reader reads again behind a barrier: a deadlock", .deadlock, alwaysFails: false,
            reason: ["'reader' waits at", "for what came to the queue 'concurrent' before"],
            everyOrder: true
        ) { scenario in
            let (shared, queue) = (Shared(), concurrent())
            scenario.thread("reader") { queue.sync { queue.sync { _ = shared.value } } }
            scenario.thread("writer") { queue.async(flags: .barrier) { shared.value = 1 } }
        },
        KnownProgram(
            "and behind a thread that waits as a barrier", .deadlock, alwaysFails: false,
            reason: [
                "'reader' waits at", "for what came to the queue 'concurrent' before",
                "'writer' waits at", "for the queue 'concurrent' that 'reader' took",
            ], everyOrder: true
        ) { scenario in
            let (shared, queue) = (Shared(), concurrent())
            scenario.thread("reader") { queue.sync { queue.sync { _ = shared.value } } }
            scenario.thread("writer") { queue.sync(flags: .barrier) { shared.value = 1 } }
        },
        KnownProgram(
            "a reader waits for one that comes behind a barrier: a deadlock", .deadlock,
            alwaysFails: false, everyOrder: true
        ) { scenario in
            let (queue, semaphore) = (concurrent(), DispatchSemaphore(value: 0))
            scenario.thread("first") { queue.sync { semaphore.wait() } }
            scenario.thread("writer") { queue.sync(flags: .barrier) {} }
            scenario.thread("second") { queue.sync { _ = semaphore.signal() } }
        },
        KnownProgram(
            "work waits for a thread that comes to the queue behind a barrier: a deadlock",
            .deadlock, alwaysFails: false, everyOrder: true
        ) { scenario in
            let queue = concurrent()
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: 0))
            scenario.thread("sender") {
                queue.async { semaphore.wait() }
                queue.async(flags: .barrier) { shared.value = 1 }
            }
            scenario.thread("reader") {
                queue.sync { _ = shared.value }
                semaphore.signal()
            }
        },
        KnownProgram(
            "a thread reads on a queue until another one has written there", explored: 3...3
        ) {
            asks($0, flags: [], writes: true)
        },
        KnownProgram("and if it is a barrier each time", explored: 3...3) {
            asks($0, flags: .barrier, writes: true)
        },
        KnownProgram("no one writes there: a livelock", .livelock, alwaysFails: true) {
            asks($0, flags: [], writes: false)
        },
        KnownProgram("the same with barriers", .livelock, alwaysFails: true) {
            asks($0, flags: .barrier, writes: false)
        },
        KnownProgram(
            "two queues that wait for each other: a deadlock", .deadlock, alwaysFails: false
        ) {
            scenario in
            let queues = ["one", "two"].map { DispatchQueue(label: $0) }
            let shared = Shared()
            scenario.thread("sender") {
                for (own, other) in [(0, 1), (1, 0)] {
                    queues[own].async { queues[other].sync { shared.value += 1 } }
                }
            }
        },
    ]

    private static let others = [
        KnownProgram("work may send more work, and wait for another queue") { scenario in
            let queues = ["one", "two"].map { DispatchQueue(label: $0) }
            let shared = Shared()
            scenario.thread("sender") {
                queues[0].async {
                    queues[0].async { shared.value += 1 }
                    queues[1].sync { shared.value += 0 }
                }
            }
            scenario.check { try Scenario.require(shared.value == 1, "work was lost") }
        },
        KnownProgram("captured objects are freed after the work has run") { scenario in
            let queue = DispatchQueue(label: "serial")
            weak var captured: Shared?
            scenario.thread("sender") {
                let shared = Shared()
                captured = shared
                queue.async { shared.value += 1 }
            }
            scenario.check { try Scenario.require(captured == nil, "it is kept alive") }
        },
        KnownProgram("a queue asserts that code runs on it") { scenario in
            let queue = DispatchQueue(label: "serial")
            let shared = Shared()
            scenario.thread("sender") {
                queue.async {
                    dispatchPrecondition(condition: .onQueue(queue))
                    shared.value += 1
                }
            }
        },
    ]

    private static let concurrentWork = [
        KnownProgram(
            "a worker that the sender knows to be idle is reused",
            threads: ["sender", "queue thread 2"]
        ) { scenario in
            let (shared, semaphore) = (Shared(), DispatchSemaphore(value: 0))
            let queue = concurrent()
            scenario.thread("sender") {
                for _ in 1...10 {
                    queue.async {
                        shared.value += 1
                        semaphore.signal()
                    }
                    semaphore.wait()
                }
            }
            scenario.check { try Scenario.require(shared.value == 10, "not done") }
        },
        KnownProgram(
            "reduction loses no outcome of concurrent work", .dataRace,
            outcomes: ["0 true", "0 false", "1 true", "1 false"], everyOrder: true
        ) { scenario in
            let queue = concurrent()
            let (lock, shared) = (NSLock(), Shared())
            let (loaded, taken) = (Seen(), Seen())
            scenario.thread("first") {
                queue.async {
                    loaded.note("\(shared.value)")
                    lock.withLock {}
                }
            }
            scenario.thread("second") {
                shared.value = 1
                queue.async {
                    let isTaken = lock.try()
                    taken.note("\(isTaken)")
                    if isTaken { lock.unlock() }
                }
            }
            scenario.outcome { "\(loaded.text) \(taken.text)" }
        },
    ]

    /// While it stands in line for the queue, the thread that asks must not wait for the other one.
    private static func asks(
        _ scenario: Scenario, flags: DispatchWorkItemFlags, writes: Bool
    ) {
        let (shared, queue) = (Shared(), concurrent())
        scenario.thread("asks") {
            while queue.sync(flags: flags, execute: { shared.value }) == 0 {}
        }
        scenario.thread("other") {
            queue.sync(flags: .barrier) { if writes { shared.value = 1 } }
        }
    }

    private static func concurrent() -> DispatchQueue {
        DispatchQueue(label: "concurrent", attributes: .concurrent)
    }

    /// A value that is written with `async` and read with `sync`, by two threads.
    private static func write(
        _ scenario: Scenario, to queue: DispatchQueue, flags: DispatchWorkItemFlags = []
    ) {
        let (shared, log) = (Shared(), Scenario.Log<Int>())
        scenario.thread("writer") {
            queue.async(flags: flags) { shared.value = 1 }
            queue.async(flags: flags) { shared.value = 2 }
            log.append(queue.sync { shared.value })
        }
        scenario.thread("reader") { _ = queue.sync { shared.value } }
        scenario.check {
            try Scenario.require(log.entries == [2], "it does not see what it wrote")
        }
    }

    @Test("a deadlock behind a barrier can be replayed")
    func replayed() throws {
        let describe = { (scenario: Scenario) in
            let queue = Self.concurrent()
            scenario.thread("reader") { queue.sync { queue.sync {} } }
            scenario.thread("writer") { queue.sync(flags: .barrier) {} }
        }
        let trace = try #require(try explore(describe).counterexample())
        #expect(trace.steps.last?.kind == .sharedQueueUp, "\(trace.table())")
        #expect(try Exploration.replay(trace.scheduleText, describe).schedule == trace.schedule)
    }
}
