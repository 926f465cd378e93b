import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls work that is sent to dispatch queues", .needsTheLab)
struct SendingEntryPointTests {
    @Test("has its known result", arguments: programs + delayed)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("synchronous work runs after what the same thread has sent to the main queue")
        { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            scenario.thread("writer") {
                DispatchQueue.main.async { shared.value = 1 }
                DispatchQueue.main.async { shared.value = 2 }
                log.append(DispatchQueue.main.sync { shared.value })
            }
            scenario.thread("reader") { _ = DispatchQueue.main.sync { shared.value } }
            scenario.check { try Scenario.require(log.entries == [2], "\(log.entries)") }
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
        KnownProgram(
            "a reader reads again behind a thread that waits as a barrier: a deadlock", .deadlock,
            alwaysFails: false,
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
            "a thread reads on a queue until another one has written there", explored: 3...3
        ) {
            asks($0, writes: true)
        },
        KnownProgram("no one writes there: a livelock", .livelock, alwaysFails: true) {
            asks($0, writes: false)
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

    private static let delayed = [
        KnownProgram("a thread can wait for it with a semaphore") { scenario in
            let (semaphore, shared) = (DispatchSemaphore(value: 0), Shared())
            scenario.thread("waiter") {
                shared.value = 1
                DispatchQueue.global().asyncAfter(wallDeadline: .now() + 1) {
                    shared.value += 1
                    semaphore.signal()
                }
                semaphore.wait()
                shared.value += 1
            }
            scenario.check { try Scenario.require(shared.value == 3, "\(shared.value)") }
        },
        KnownProgram("a delayed work item can be canceled until it begins", outcomes: ["0", "1"]) {
            scenario in
            let shared = Shared()
            scenario.thread("sender") {
                let item = DispatchWorkItem { shared.value = 1 }
                DispatchQueue.main.asyncAfter(deadline: .now() + 1, execute: item)
                item.cancel()
            }
            scenario.outcome { "\(shared.value)" }
        },
        KnownProgram(
            "delayed work that is sent during set-up runs concurrently with the threads",
            outcomes: ["later a b", "a later b", "a b later"]
        ) { scenario in
            let (log, shared) = (Scenario.Log<String>(), Shared())
            DispatchQueue.main.asyncAfter(deadline: .now() + 1) { log.append("later") }
            scenario.thread("only") {
                shared.value = 1
                log.append("a")
                log.append("b")
            }
            scenario.outcome { log.entries.joined(separator: " ") }
        },
        KnownProgram("work that is sent for a time in the distant future never runs") { scenario in
            let shared = Shared()
            scenario.thread("only") {
                DispatchQueue.global().asyncAfter(deadline: .distantFuture) { shared.value = 1 }
                shared.other = 1
            }
            scenario.check { try Scenario.require(shared.value == 0, "it was done") }
        },
    ]

    /// While it stands in line for the queue, the thread that asks must not wait for the other one.
    private static func asks(_ scenario: Scenario, writes: Bool) {
        let (shared, queue) = (Shared(), concurrent())
        scenario.thread("asks") { while queue.sync(execute: { shared.value }) == 0 {} }
        scenario.thread("other") {
            queue.sync(flags: .barrier) { if writes { shared.value = 1 } }
        }
    }

    private static func concurrent() -> DispatchQueue {
        DispatchQueue(label: "concurrent", attributes: .concurrent)
    }
}
