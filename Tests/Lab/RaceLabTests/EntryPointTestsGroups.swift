import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls dispatch groups", .needsTheLab)
struct GroupEntryPointTests {
    @Test("what a thread does before it leaves a group happens before the end of a wait")
    func wait() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives, "\(exploration.text())")
    }

    @Test("a group that is left too early does not prevent a data race")
    func leftTooEarly() {
        let exploration = explore { scenario in
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
        }
        #expect(
            !exploration.findings.isEmpty && exploration.passingSchedule == nil,
            "\(exploration.text())")
    }

    @Test("two workers, one of which enters too late: the wait may end without it")
    func enteredTooLate() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives && exploration.outcomes.keys.sorted() == ["0", "1", "2"])
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

    @Test("a wait with a time-out, and one that does not block")
    func timeouts() {
        let exploration = explore { scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            group.enter()
            scenario.thread("leaver") { group.leave() }
            scenario.thread("attempt") { log.append("\(group.wait(timeout: .now()))") }
            scenario.thread("patient") { log.append("\(group.wait(timeout: .now() + 1))") }
            scenario.outcome { log.entries.sorted().joined(separator: " ") }
        }
        #expect(Set(exploration.outcomes.keys) == ["success success", "success timedOut"])
        #expect(exploration.inconclusive == nil)
        let alone = explore { scenario in
            let (group, log) = (DispatchGroup(), Scenario.Log<String>())
            scenario.thread("only") {
                group.enter()
                log.append("\(group.wait(timeout: .now() + 1))")
            }
            scenario.outcome { "\(log.entries)" }
        }
        #expect(alone.outcomes == [#"["timedOut"]"#: 1], "\(alone.text())")
    }

    @Test("work that is sent as part of a group", arguments: [true, false])
    func async(waits: Bool) {
        let exploration = explore { scenario in
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
                try Scenario.require(
                    shared.value == 2 && shared.other == 2, "an increment was lost")
            }
        }
        #expect(
            exploration.survives == waits && exploration.inconclusive == nil,
            "\(exploration.text())")
        #expect(
            waits || exploration.reasons(.dataRace).count + exploration.reasons(.overlap).count > 0)
    }

    @Test(
        "the notification of a group is sent when it has finished, once, and sees all its work",
        arguments: ["serial", "main", "global"])
    func notify(on name: String) {
        let exploration = explore { scenario in
            let queue = Self.queue(name)
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
        #expect(exploration.survives, "\(exploration.text())")
        #expect(exploration.explored > 3)
    }

    private static func queue(_ name: String) -> DispatchQueue {
        switch name {
        case "main": .main
        case "global": .global()
        default: DispatchQueue(label: name)
        }
    }

    @Test("when a group is used again, each notification follows its own round")
    func usedAgain() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives, "\(exploration.text())")
    }

    @Test("a group's notification does not wait for later work")
    func doesNotSeeLater() {
        let exploration = explore { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            group.enter()
            group.notify(queue: .global()) { shared.value += 1 }
            scenario.thread("worker") {
                group.leave()
                shared.value += 1
            }
        }
        #expect(!exploration.findings.isEmpty, "\(exploration.text())")
    }

    @Test("work on a queue waits for work on the same queue: a deadlock")
    func waitsOnItsQueue() {
        let exploration = explore { scenario in
            let (group, queue) = (DispatchGroup(), DispatchQueue(label: "serial"))
            let shared = Shared()
            scenario.thread("sender") {
                queue.async {
                    queue.async(group: group) { shared.value = 1 }
                    group.wait()
                }
            }
        }
        #expect(exploration.reasons(.deadlock).count == 1 && exploration.passingSchedule == nil)
        #expect(exploration.reasons(.deadlock).first?.contains("for work to finish") == true)
    }

    @Test("a group with barriers", arguments: [true, false])
    func barriers(isBarrier: Bool) {
        let exploration = explore { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            scenario.thread("sender") {
                for _ in 1...2 {
                    queue.async(group: group, flags: isBarrier ? .barrier : []) {
                        shared.value += 1
                    }
                }
                group.wait()
                shared.value += 1
            }
        }
        #expect(exploration.survives == isBarrier, "\(exploration.text())")
    }

    @Test("`all`, as most libraries build it", arguments: [true, false])
    func all(isLocked: Bool) {
        let exploration = explore { scenario in
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
        #expect(exploration.survives == isLocked, "\(exploration.text())")
        #expect(exploration.inconclusive == nil)
    }

    @Test("a group that work sent during set-up leaves")
    func leftDuringSetUp() {
        let exploration = explore { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            DispatchQueue.global().async(group: group) { shared.value += 1 }
            group.notify(queue: .main) { shared.value += 1 }
            group.wait()
            scenario.thread("only") { shared.value += 1 }
            scenario.check {
                group.wait()
                try Scenario.require(shared.value == 3, "\(shared.value)")
            }
        }
        #expect(exploration.survives && exploration.explored == 1, "\(exploration.text())")
    }

    @Test(
        "a group that is left more often than it was entered ends the process, as without the lab")
    func leftTooOften() {
        var options = Exploration.Options()
        options.isolation = .childProcess()
        let exploration = explore(options: options) { scenario in
            let (group, shared) = (DispatchGroup(), Shared())
            scenario.thread("first") {
                group.enter()
                shared.value += 1
                group.leave()
            }
            scenario.thread("second") { group.leave() }
        }
        #expect(exploration.findings.first?.kind == .crash, "\(exploration.text())")
    }

    @Test("a group that was entered before the scenario is inconclusive")
    func enteredBefore() {
        let group = DispatchGroup()
        group.enter()
        defer { group.leave() }
        let exploration = explore { scenario in
            scenario.thread("only") { group.wait() }
        }
        guard case .uncontrolled(_, let place)? = exploration.inconclusive else {
            Issue.record("\(exploration.text())")
            return
        }
        #expect(place.contains("EntryPointTestsGroups.swift"))
    }

    @Test("reduction loses no outcome of groups", arguments: [false, true])
    func reduced(reduction: Bool) {
        var options = Exploration.Options()
        options.reduction = reduction
        let exploration = explore(options: options) { scenario in
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
        }
        // "a" comes before "c", and a successful wait comes after "a".
        let orders = Set(exploration.outcomes.keys)
        let all =
            Self.orders(of: ["a", "b", "c", "true"]) + Self.orders(of: ["a", "b", "c", "false"])
        let possible = all.filter { order in
            let at = { (word: String) -> Int in order.firstIndex(of: word) ?? -1 }
            return at("a") < at("b") && at("a") < at("c")
                && (at("true") < 0 || at("a") < at("true"))
        }
        #expect(orders == Set(possible.map { $0.joined() }), "\(exploration.text())")
    }

    private static func orders(of words: [String]) -> [[String]] {
        if words.isEmpty { return [[]] }
        return words.flatMap { word in
            orders(of: words.filter { $0 != word }).map { [word] + $0 }
        }
    }
}

@Suite("The lab controls work items", .needsTheLab)
struct WorkItemEntryPointTests {
    @Test("a thread that waits for an item sees what the item did", arguments: [true, false])
    func wait(waits: Bool) {
        let exploration = explore { scenario in
            let shared = Shared()
            scenario.thread("sender") {
                let item = DispatchWorkItem { shared.value = 1 }
                DispatchQueue.global().async(execute: item)
                if waits { item.wait() }
                shared.value += 1
            }
            scenario.check { try Scenario.require(shared.value == 2, "\(shared.value)") }
        }
        #expect(
            exploration.survives == waits && exploration.inconclusive == nil,
            "\(exploration.text())")
    }

    @Test("a notification of an item runs after it, and once")
    func notify() {
        let exploration = explore { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("observer") { item.notify(queue: .main) { log.append(shared.value) } }
            scenario.thread("sender") { DispatchQueue.global().async(execute: item) }
            scenario.check { try Scenario.require(log.entries == [1], "\(log.entries)") }
        }
        #expect(exploration.survives && exploration.explored > 1, "\(exploration.text())")
    }

    @Test("an item that is canceled in time does nothing, but finishes")
    func cancel() {
        let exploration = explore { scenario in
            let (shared, log) = (Shared(), Scenario.Log<String>())
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("sender") {
                DispatchQueue.global().async(execute: item)
                item.wait()
                log.append("\(shared.value)")
            }
            scenario.thread("canceler") { item.cancel() }
            scenario.outcome { "\(log.entries)" }
        }
        #expect(exploration.survives, "\(exploration.text())")
        #expect(Set(exploration.outcomes.keys) == [#"["0"]"#, #"["1"]"#])
    }

    @Test("an item can check repeatedly whether it is canceled")
    func isCancelled() {
        let exploration = explore { scenario in
            let shared = Shared()
            let item = DispatchWorkItem {}
            scenario.thread("poller") { while !item.isCancelled { _ = shared.value } }
            scenario.thread("canceler") { item.cancel() }
        }
        #expect(exploration.survives, "\(exploration.text())")
    }

    @Test("an item that is performed directly")
    func perform() {
        let exploration = explore { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("performer") { item.perform() }
            scenario.thread("waiter") {
                item.wait()
                log.append(shared.value)
            }
            scenario.outcome { "\(log.entries)" }
        }
        #expect(
            exploration.survives && exploration.outcomes.keys.sorted() == ["[1]"],
            "\(exploration.text())")
    }

    @Test("an item that is performed directly, after a possible cancellation, is inconclusive")
    func performOrCancel() {
        let exploration = explore { scenario in
            let shared = Shared()
            let item = DispatchWorkItem { shared.value = 1 }
            scenario.thread("performer") { item.perform() }
            scenario.thread("canceler") { item.cancel() }
        }
        guard case .uncontrolled? = exploration.inconclusive else {
            Issue.record("\(exploration.text())")
            return
        }
    }

    @Test("an item that is never performed: a deadlock")
    func neverDone() {
        let exploration = explore { scenario in
            let item = DispatchWorkItem {}
            scenario.thread("waiter") { item.wait() }
        }
        #expect(exploration.reasons(.deadlock).first?.hasSuffix("for work to finish") == true)
    }

    @Test("an item keeps its barrier flag", arguments: [true, false])
    func barrier(isBarrier: Bool) {
        let exploration = explore { scenario in
            let shared = Shared()
            let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
            scenario.thread("sender") {
                for _ in 1...2 {
                    let item = DispatchWorkItem(flags: isBarrier ? .barrier : []) {
                        shared.value += 1
                    }
                    queue.async(execute: item)
                }
            }
            scenario.thread("waiter") {
                let item = DispatchWorkItem(flags: isBarrier ? .barrier : []) {
                    shared.value += 1
                }
                queue.sync(execute: item)
            }
        }
        #expect(exploration.survives == isBarrier, "\(exploration.text())")
    }
}

@Suite("The lab controls concurrentPerform", .needsTheLab)
struct ConcurrentPerformTests {
    @Test("two rounds run concurrently", arguments: [true, false])
    func twoAtOnce(isLocked: Bool) {
        let exploration = explore { scenario in
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
        #expect(exploration.survives == isLocked, "\(exploration.text())")
        #expect(exploration.inconclusive == nil && exploration.explored > 1)
    }

    @Test("each round has its number, and sees what happened before the call")
    func numbers() {
        let exploration = explore { scenario in
            let (shared, log) = (Shared(), Scenario.Log<Int>())
            scenario.thread("only") {
                shared.value = 1
                DispatchQueue.concurrentPerform(iterations: 3) { log.append($0 * shared.value) }
                log.append(9)
            }
            scenario.outcome { log.entries.map(String.init).joined() }
        }
        #expect(exploration.survives, "\(exploration.text())")
        let orders = ["012", "021", "102", "120", "201", "210"].map { $0 + "9" }
        #expect(Set(exploration.outcomes.keys) == Set(orders))
    }

    @Test("a single round, or none, runs on the calling thread", arguments: 0...1)
    func few(count: Int) {
        let exploration = explore { scenario in
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
        #expect(exploration.survives && exploration.threads == ["only"], "\(exploration.text())")
    }

    @Test("rounds that wait for each other in opposite order: a deadlock")
    func deadlock() {
        let exploration = explore { scenario in
            let locks = [NSLock(), NSLock()]
            scenario.thread("only") {
                DispatchQueue.concurrentPerform(iterations: 2) { number in
                    locks[number].withLock { locks[1 - number].withLock {} }
                }
            }
        }
        let reason = exploration.reasons(.deadlock).first ?? exploration.summary
        #expect(reason.contains("'only' waits at ") && reason.contains(" to end"), "\(reason)")
        #expect(exploration.passingSchedule != nil)
    }

    @Test("too many rounds: inconclusive, and the process continues")
    func tooMany() {
        let exploration = explore { scenario in
            let shared = Shared()
            scenario.thread("only") {
                DispatchQueue.concurrentPerform(iterations: 5_000) { _ in shared.value += 1 }
            }
        }
        #expect(
            exploration.inconclusive == .tooManyThreads(thread: "only"), "\(exploration.text())")
    }

    @Test("nested rounds, and two threads that both start rounds")
    func nested() {
        let exploration = explore { scenario in
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
        }
        #expect(exploration.survives, "\(exploration.text())")
    }

    @Test("during set-up and in a check, rounds run one after the other")
    func betweenRuns() {
        let exploration = explore { scenario in
            let (shared, before) = (Shared(), Shared())
            DispatchQueue.concurrentPerform(iterations: 100) { _ in before.value += 1 }
            scenario.thread("only") { shared.value = before.value }
            scenario.check {
                DispatchQueue.concurrentPerform(iterations: 100) { _ in before.value += 1 }
                try Scenario.require(shared.value == 100 && before.value == 200, "\(before.value)")
            }
        }
        #expect(exploration.survives, "\(exploration.text())")
    }

    @Test("a work item that is never performed, beside an unused group")
    func unusedItem() {
        let exploration = explore { scenario in
            let owner = Owner()
            scenario.thread("only") { owner.queue.sync { owner.count += 1 } }
        }
        #expect(exploration.survives, "\(exploration.text())")
    }
}

private final class Owner: @unchecked Sendable {
    let queue = DispatchQueue(label: "queue")
    let group = DispatchGroup()
    lazy var item = DispatchWorkItem { [queue] in _ = queue }
    var count = 0

    init() { _ = item }
}
