import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls groups, work items and rounds", .needsTheLab)
struct GroupEntryPointTests {
    @Test("has its known result", arguments: groups + items + rounds + few)
    func known(_ program: KnownProgram) { program.check() }

    private static let groups = [
        KnownProgram("a group that work sent during set-up leaves", explored: 1...1) { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            DispatchQueue.global().async(group: group) { shared.value += 1 }
            group.notify(queue: .main) { shared.value += 1 }
            group.wait()
            scenario.thread("only") { shared.value += 1 }
            scenario.check {
                group.wait()
                try Scenario.require(shared.value == 3, "\(shared.value)")
            }
        },
        KnownProgram(
            "a group that is left more often than it was entered ends the process, as without the lab",
            .crash, options: .isolated
        ) { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            scenario.thread("first") {
                group.enter()
                shared.value += 1
                group.leave()
            }
            scenario.thread("second") { group.leave() }
        },
        KnownProgram(
            "a group that can be left before it is entered", .crash, options: .isolated
        ) { scenario in
            let group = DispatchGroup()
            scenario.thread("first") { group.enter() }
            scenario.thread("second") { group.leave() }
        },
        KnownProgram(
            "a wait for a group that other threads enter: it may be empty between them",
            outcomes: [
                "left right waiter", "left waiter right", "right left waiter", "right waiter left",
                "waiter left right", "waiter right left",
            ], explored: 28...28, everyOrder: true
        ) { scenario in
            let (group, lock, seen) = (DispatchGroup(), NSLock(), Seen())
            for name in ["left", "right"] {
                scenario.thread(name) {
                    group.enter()
                    lock.withLock { seen.note(name) }
                    group.leave()
                }
            }
            scenario.thread("waiter") {
                group.wait()
                lock.withLock { seen.note("waiter") }
            }
            scenario.outcome { seen.text }
        },
        KnownProgram(
            "a group that is never left: a deadlock, with its place", .deadlock,
            sentence: "'waiter' waits at \(place(6)) for work to finish"
        ) { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            scenario.thread("waiter") {
                shared.value = 1
                group.enter()
                group.wait()
            }
        },
    ]

    private static let items = [
        KnownProgram("an item keeps its barrier flag, and a thread that waits for it sees its work")
        { scenario in
            let shared = Shared()
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            scenario.thread("sender") {
                for _ in 1...2 {
                    let item = DispatchWorkItem(flags: .barrier) { shared.value += 1 }
                    queue.async(execute: item)
                    item.wait()
                }
            }
            scenario.thread("waiter") {
                queue.sync(execute: DispatchWorkItem(flags: .barrier) { shared.value += 1 })
            }
        },
        KnownProgram("a notification of an item runs after it, and once", explored: 2...(.max)) {
            scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("observer") { item.notify(queue: .main) { log.append(shared.value) } }
            scenario.thread("sender") { DispatchQueue.global().async(execute: item) }
            scenario.check { try Scenario.require(log.entries == [1], "\(log.entries)") }
        },
        KnownProgram(
            "an item that is canceled in time does nothing, but finishes", outcomes: ["0", "1"]
        ) { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("sender") {
                DispatchQueue.global().async(execute: item)
                item.wait()
                log.append(shared.value)
            }
            scenario.thread("canceler") { item.cancel() }
            scenario.outcome { "\(log.entries[0])" }
        },
        KnownProgram("an item can check repeatedly whether it is canceled") { scenario in
            let shared = Shared()
            let item = DispatchWorkItem {}
            scenario.thread("poller") { while !item.isCancelled { _ = shared.value } }
            scenario.thread("canceler") { item.cancel() }
        },
        KnownProgram("an item that is performed directly", outcomes: ["1"]) { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("performer") { item.perform() }
            scenario.thread("waiter") {
                item.wait()
                log.append(shared.value)
            }
            scenario.outcome { "\(log.entries[0])" }
        },
        KnownProgram(
            "an item that is never performed: a deadlock", .deadlock, alwaysFails: true,
            reason: ["for work to finish"]
        ) { scenario in
            let item = DispatchWorkItem {}
            scenario.thread("waiter") { item.wait() }
        },
        KnownProgram(
            "an item that may run again after a wait for it has ended: Dispatch ends the process",
            .crash, outcomes: ["aaw", "awa"], options: .isolated, everyOrder: true
        ) { scenario in
            let (queue, log) = (DispatchQueue(label: "queue"), Scenario.Log<String>())
            let item = DispatchWorkItem { log.append("a") }
            scenario.thread("sender") {
                for _ in 1...2 { queue.async(execute: item) }
                item.wait()
                log.append("w")
            }
            scenario.outcome { log.entries.joined() }
        },
        KnownProgram("a work item that is never performed, beside an unused group") { scenario in
            let owner = Owner()
            scenario.thread("only") { owner.queue.sync { owner.count += 1 } }
        },
        KnownProgram(
            "an item that is performed directly, after a possible cancellation",
            noVerdict: "both canceled and performed"
        ) { scenario in
            let shared = Shared()
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("performer") { item.perform() }
            scenario.thread("canceler") { item.cancel() }
        },
        KnownProgram(
            "whoever asks to be notified after an item has run twice ends the process", .crash,
            alwaysFails: false, options: .isolated
        ) { scenario in
            let (shared, queue) = (Shared(), DispatchQueue(label: "queue"))
            let item = DispatchWorkItem { shared.value += 1 }
            scenario.thread("sender") {
                queue.async(execute: item)
                queue.async(execute: item)
            }
            scenario.thread("observer") { item.notify(queue: queue) {} }
        },
    ]

    private static let rounds = [
        KnownProgram("nested rounds come after what precedes them, and before what follows") {
            scenario in
            let (shared, lock) = (Shared(), NSLock())
            scenario.thread("only") {
                shared.value = 1
                DispatchQueue.concurrentPerform(iterations: 2) { outer in
                    if outer == 0 {
                        DispatchQueue.concurrentPerform(iterations: 2) { _ in
                            lock.withLock { shared.value += 1 }
                        }
                    }
                }
                shared.value += 1
            }
            scenario.check { try Scenario.require(shared.value == 4, "\(shared.value)") }
        },
        KnownProgram("during set-up and in a check, rounds run one after the other") { scenario in
            let (shared, before) = (Shared(), Shared())
            DispatchQueue.concurrentPerform(iterations: 100) { _ in before.value += 1 }
            scenario.thread("only") { shared.value = before.value }
            scenario.check {
                DispatchQueue.concurrentPerform(iterations: 100) { _ in before.value += 1 }
                try Scenario.require(shared.value == 100 && before.value == 200, "\(before.value)")
            }
        },
        KnownProgram(
            "rounds that wait for each other in opposite order: a deadlock", .deadlock,
            alwaysFails: false, reason: ["'only' waits at ", " to end"]
        ) { scenario in
            let locks = [NSLock(), NSLock()]
            scenario.thread("only") {
                DispatchQueue.concurrentPerform(iterations: 2) { number in
                    locks[number].withLock { locks[1 - number].withLock {} }
                }
            }
        },
        // The process continues.
        KnownProgram("too many rounds", noVerdict: "'only' starts one thread too many") {
            scenario in
            let shared = Shared()
            scenario.thread("only") {
                DispatchQueue.concurrentPerform(iterations: 5_000) { _ in shared.value += 1 }
            }
        },
    ]

    private static let few = (0...1).map { count in
        KnownProgram("as few rounds as \(count) run on the calling thread", threads: ["only"]) {
            scenario in
            let (shared, lock) = (Shared(), NSRecursiveLock())
            scenario.thread("only") {
                lock.withLock {
                    DispatchQueue.concurrentPerform(iterations: count) { _ in
                        lock.withLock { shared.value += 1 }
                    }
                }
            }
            scenario.check { try Scenario.require(shared.value == count, "\(shared.value)") }
        }
    }
}

private final class Owner: @unchecked Sendable {
    let queue = DispatchQueue(label: "queue")
    let group = DispatchGroup()
    lazy var item = DispatchWorkItem { [queue] in _ = queue }
    var count = 0

    init() { _ = item }
}
