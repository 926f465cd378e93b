import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls dispatch groups", .needsTheLab)
struct GroupEntryPointTests {
    @Test("has its known result", arguments: waits + notifications + others)
    func known(_ program: KnownProgram) { program.check() }

    private static let waits = [
        KnownProgram("what a thread does before it leaves a group happens before the end of a wait")
        {
            scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            group.enter()
            scenario.thread("worker") {
                shared.value = 1
                group.leave()
            }
            scenario.thread("waiter") {
                group.wait()
                shared.value += 1
            }
            scenario.check { try Scenario.require(shared.value == 2, "it did not wait") }
        },
        KnownProgram(
            "a group that is left too early does not prevent a data race", .overlap,
            alwaysFails: true
        ) { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            group.enter()
            scenario.thread("worker") {
                group.leave()
                shared.value = 1
            }
            scenario.thread("waiter") {
                group.wait()
                shared.value = 2
            }
        },
        KnownProgram(
            "two workers, one of which enters too late: the wait may end without it",
            outcomes: ["0", "1", "2"]
        ) { scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            for name in ["first", "second"] {
                scenario.thread(name) {
                    group.enter()
                    log.append(name)
                    group.leave()
                }
            }
            scenario.thread("waiter") {
                group.wait()
                log.append("waiter")
            }
            scenario.outcome { "\(log.entries.firstIndex(of: "waiter") ?? -1)" }
        },
        KnownProgram(
            "a wait with a time-out, and one that does not block",
            outcomes: ["success success", "success timedOut"]
        ) { scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            group.enter()
            scenario.thread("leaver") { group.leave() }
            scenario.thread("attempt") { log.append("\(group.wait(timeout: .now()))") }
            scenario.thread("patient") { log.append("\(group.wait(timeout: .now() + 1))") }
            scenario.outcome { log.entries.sorted().joined(separator: " ") }
        },
        KnownProgram("a wait with a time-out, alone", outcomes: ["timedOut"], explored: 1...1) {
            scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            scenario.thread("only") {
                group.enter()
                log.append("\(group.wait(timeout: .now() + 1))")
            }
            scenario.outcome { log.entries.joined() }
        },
        KnownProgram("work that is sent as part of a group, with a wait") {
            sendInGroup($0, waits: true)
        },
        KnownProgram("and without a wait", .overlap) {
            sendInGroup($0, waits: false)
        },
    ]

    private static func sendInGroup(_ scenario: Scenario, waits: Bool) {
        let (group, shared) = (DispatchGroup(), Shared())
        let queues = [DispatchQueue(label: "serial"), .global()]
        scenario.thread("sender") {
            queues[0].async(group: group) { shared.value += 1 }
            queues[1].async(group: group) { shared.other += 1 }
            if waits { group.wait() }
            shared.value += 1
            shared.other += 1
        }
        scenario.check {
            try Scenario.require(shared.value == 2 && shared.other == 2, "an increment was lost")
        }
    }

    /// The notification of a group is sent when it has finished, once, and sees all its work.
    private static func notify(_ scenario: Scenario, on queue: DispatchQueue) {
        let (group, shared, log) = (DispatchGroup(), Shared(), Scenario.Log<Int>())
        for _ in 1...2 { group.enter() }
        scenario.thread("first") {
            shared.value = 1
            group.leave()
        }
        scenario.thread("second") {
            shared.other = 1
            group.leave()
        }
        scenario.thread("observer") {
            group.notify(queue: queue) { log.append(shared.value + shared.other) }
        }
        scenario.check { try Scenario.require(log.entries == [2], "\(log.entries)") }
    }

    private static let notifications = [
        KnownProgram("a notification on a serial queue", explored: 4...(.max)) {
            notify($0, on: DispatchQueue(label: "serial"))
        },
        KnownProgram("a notification on the main queue", explored: 4...(.max)) {
            notify($0, on: .main)
        },
        KnownProgram("a notification on a global queue", explored: 4...(.max)) {
            notify($0, on: .global())
        },
        KnownProgram("when a group is used again, each notification follows its own round") {
            scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            let queue = DispatchQueue(label: "serial")
            scenario.thread("only") {
                for round in ["one", "two"] {
                    group.enter()
                    group.notify(queue: queue) { log.append(round) }
                    group.leave()
                }
                group.notify(queue: queue) { log.append("at once") }
            }
            scenario.check {
                try Scenario.require(log.entries == ["one", "two", "at once"], "\(log.entries)")
            }
        },
        KnownProgram("a group's notification does not wait for later work", .overlap) { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            group.enter()
            group.notify(queue: .global()) { shared.value += 1 }
            scenario.thread("worker") {
                group.leave()
                shared.value += 1
            }
        },
        KnownProgram(
            "work on a queue waits for work on the same queue: a deadlock", .deadlock,
            alwaysFails: true, reason: ["for work to finish"]
        ) { scenario in
            let (group, queue) = (DispatchGroup(), DispatchQueue(label: "serial"))
            let shared = Shared()
            scenario.thread("sender") {
                queue.async {
                    queue.async(group: group) { shared.value = 1 }
                    group.wait()
                }
            }
        },
        KnownProgram("a group with barriers") { sendTwo($0, flags: .barrier) },
        KnownProgram("a group without barriers", .overlap) { sendTwo($0, flags: []) },
        KnownProgram("`all`, as most libraries build it") { all($0, isLocked: true) },
        KnownProgram("`all` without a lock", .overlap) { all($0, isLocked: false) },
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
    ]

    private static func sendTwo(_ scenario: Scenario, flags: DispatchWorkItemFlags) {
        let (group, shared) = (DispatchGroup(), Shared())
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        scenario.thread("sender") {
            for _ in 1...2 { queue.async(group: group, flags: flags) { shared.value += 1 } }
            group.wait()
            shared.value += 1
        }
    }

    private static func all(_ scenario: Scenario, isLocked: Bool) {
        let (group, shared, lock) = (DispatchGroup(), Shared(), NSLock())
        let log = Scenario.Log<[Int]>()
        for number in 1...2 {
            group.enter()
            scenario.thread("source \(number)") {
                if isLocked { lock.lock() }
                shared.items.append(number)
                if isLocked { lock.unlock() }
                group.leave()
            }
        }
        group.notify(queue: .main) { log.append(shared.items.sorted()) }
        scenario.check { try Scenario.require(log.entries == [[1, 2]], "\(log.entries)") }
    }

    @Test("a group that is never left: a deadlock, with its place")
    func neverLeft() throws {
        var line = ""
        let describe = { (scenario: Scenario) in
            let (group, shared) = (DispatchGroup(), Shared())
            line = place(4)
            scenario.thread("waiter") {
                shared.value = 1
                group.enter()
                group.wait()
            }
        }
        let exploration = explore(describe)
        #expect(exploration.reasons(.deadlock) == ["'waiter' waits at \(line) for work to finish"])
        let trace = try #require(try exploration.counterexample())
        #expect(trace.waiting.map(\.cause) == [.completion])
        #expect(trace.steps.map(\.kind) == [.modify, .enter])
    }

    private static let others = [
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
        KnownProgram("reduction loses no outcome of groups", outcomes: possible, everyOrder: true) {
            scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            group.enter()
            scenario.thread("leaver") {
                log.append("a")
                group.leave()
                log.append("b")
            }
            scenario.thread("observer") {
                group.notify(queue: .global()) { log.append("c") }
                log.append("\(group.wait(timeout: .now()) == .success)")
            }
            scenario.outcome { log.entries.joined() }
        },
        waitFor(DispatchGroup()),
    ]

    private static func waitFor(_ group: DispatchGroup) -> KnownProgram {
        group.enter()
        return KnownProgram(
            "a group that was entered before the scenario", noVerdict: "the lab does not control"
        ) { $0.thread("only") { group.wait() } }
    }

    /// "a" comes before "c", and a successful wait comes after "a".
    private static let possible: Set<String> = {
        let all = orders(of: ["a", "b", "c", "true"]) + orders(of: ["a", "b", "c", "false"])
        let possible = all.filter { order in
            let at = { (word: String) -> Int in order.firstIndex(of: word) ?? -1 }
            return at("a") < at("b") && at("a") < at("c")
                && (at("true") < 0 || at("a") < at("true"))
        }
        return Set(possible.map { $0.joined() })
    }()

    private static func orders(of words: [String]) -> [[String]] {
        if words.isEmpty { return [[]] }
        return words.flatMap { word in
            orders(of: words.filter { $0 != word }).map { [word] + $0 }
        }
    }
}

@Suite("The lab controls work items", .needsTheLab)
struct WorkItemEntryPointTests {
    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("a thread that waits for an item sees what the item did") {
            sendItem($0, waits: true)
        },
        KnownProgram("a thread that does not wait for an item", .overlap, .failedCheck) {
            sendItem($0, waits: false)
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
        KnownProgram("an item keeps its barrier flag") { sendItems($0, flags: .barrier) },
        KnownProgram("items without a flag", .overlap) { sendItems($0, flags: []) },
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
    ]

    private static func sendItem(_ scenario: Scenario, waits: Bool) {
        let shared = Shared()
        scenario.thread("sender") {
            let item = DispatchWorkItem { shared.value = 1 }
            DispatchQueue.global().async(execute: item)
            if waits { item.wait() }
            shared.value += 1
        }
        scenario.check { try Scenario.require(shared.value == 2, "\(shared.value)") }
    }

    private static func sendItems(_ scenario: Scenario, flags: DispatchWorkItemFlags) {
        let shared = Shared()
        let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
        scenario.thread("sender") {
            for _ in 1...2 {
                queue.async(execute: DispatchWorkItem(flags: flags) { shared.value += 1 })
            }
        }
        scenario.thread("waiter") {
            queue.sync(execute: DispatchWorkItem(flags: flags) { shared.value += 1 })
        }
    }
}

@Suite("The lab controls concurrentPerform", .needsTheLab)
struct ConcurrentPerformTests {
    @Test("has its known result", arguments: programs + few)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("two rounds run concurrently", .overlap, explored: 2...(.max)) {
            perform($0, isLocked: false)
        },
        KnownProgram("two rounds with a lock", explored: 2...(.max)) {
            perform($0, isLocked: true)
        },
        KnownProgram(
            "each round has its number, and sees what happened before the call",
            outcomes: ["0129", "0219", "1029", "1209", "2019", "2109"]
        ) { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            scenario.thread("only") {
                shared.value = 1
                DispatchQueue.concurrentPerform(iterations: 3) { log.append($0 * shared.value) }
                log.append(9)
            }
            scenario.outcome { log.entries.map(String.init).joined() }
        },
        KnownProgram("nested rounds, and two threads that both start rounds") { scenario in
            let (shared, lock) = (Shared(), NSLock())
            scenario.thread("only") {
                DispatchQueue.concurrentPerform(iterations: 2) { outer in
                    if outer == 0 {
                        DispatchQueue.concurrentPerform(iterations: 2) { _ in
                            lock.withLock { shared.value += 1 }
                        }
                    }
                }
            }
            scenario.check { try Scenario.require(shared.value == 2, "\(shared.value)") }
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

    private static func perform(_ scenario: Scenario, isLocked: Bool) {
        let (shared, lock) = (Shared(), NSLock())
        scenario.thread("only") {
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                if isLocked { lock.lock() }
                shared.value += 1
                if isLocked { lock.unlock() }
            }
            shared.value += 1
        }
        scenario.check { try Scenario.require(shared.value == 3, "\(shared.value)") }
    }
}

private final class Owner: @unchecked Sendable {
    let queue = DispatchQueue(label: "queue")
    let group = DispatchGroup()
    lazy var item = DispatchWorkItem { [queue] in _ = queue }
    var count = 0

    init() { _ = item }
}
