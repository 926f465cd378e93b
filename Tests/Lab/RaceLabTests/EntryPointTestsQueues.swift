import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Testing

@Suite("The lab controls dispatch queues", .needsTheLab)
struct DispatchQueueEntryPointTests {
    enum Kind: CaseIterable {
        case serial, main, concurrent, derived, global

        var isSerial: Bool { self == .serial || self == .main }

        var queue: DispatchQueue {
            switch self {
            case .serial: DispatchQueue(label: "serial")
            case .main: .main
            case .concurrent: DispatchQueue(label: "concurrent", attributes: .concurrent)
            case .derived:
                DispatchQueue(
                    label: "derived", qos: .utility, attributes: .concurrent,
                    autoreleaseFrequency: .workItem)
            case .global: .global()
            }
        }
    }

    @Test(
        "a serial queue is a lock, a concurrent queue is not", arguments: Kind.allCases,
        [true, false])
    func increments(on kind: Kind, waits: Bool) {
        let exploration = explore { scenario in
            let (shared, queue) = (Shared(), kind.queue)
            scenario.threads("first", "second") {
                if waits {
                    queue.sync { shared.value += 1 }
                } else {
                    queue.async { shared.value += 1 }
                }
            }
            scenario.check { try Scenario.require(shared.value == 2, "an increment was lost") }
        }
        let expected: [Exploration.Finding.Kind] = kind.isSerial ? [] : [.overlap]
        #expect(exploration.findings.map(\.kind) == expected, "\(exploration.summary)")
        #expect(exploration.coverage == .all && exploration.inconclusive == nil)
        #expect(!kind.isSerial || exploration.explored > 1)
        #expect(kind.isSerial || exploration.passingSchedule == nil)
    }

    @Test("has its known result", arguments: programs + releases)
    func known(_ program: KnownProgram) { program.check() }

    private static let releases = Kind.allCases.map { kind in
        KnownProgram("work on a \(kind) queue releases a lock last", outcomes: ["1 2", "2 1"]) {
            scenario in
            let (lines, queue) = (Protected(), kind.queue)
            scenario.thread("sender") { queue.async { lines.add(1) } }
            scenario.thread("other") { lines.add(2) }
            scenario.outcome { lines.text }
        }
    }

    private static let programs = [
        KnownProgram("work runs on its queue, and its result or error is returned") { scenario in
            struct Failure: Error {}
            let key = DispatchSpecificKey<Int>()
            let shared = Shared()
            let queue = DispatchQueue(label: "serial")
            queue.setSpecific(key: key, value: 7)
            scenario.threads("first", "second") {
                let found = queue.sync {
                    dispatchPrecondition(condition: .onQueue(queue))
                    return DispatchQueue.getSpecific(key: key)
                }
                let failed = (try? queue.sync { throw Failure() }) == nil
                if found == 7, failed { queue.sync { shared.value += 1 } }
            }
            scenario.check { try Scenario.require(shared.value == 2, "not as it is outside") }
        },
        KnownProgram(
            "work that waits for its own queue: a deadlock", .deadlock,
            sentence:
                "'only' waits at \(place(5)) for the queue 'serial' that it took itself at \(place(4))"
        ) { scenario in
            let queue = DispatchQueue(label: "serial")
            scenario.thread("only") {
                queue.sync {
                    queue.sync {}
                }
            }
        },
    ]

    @Test("two queues that wait for each other; a queue that outlives the scenario is free again")
    func oppositeOrder() {
        let (one, two) = (DispatchQueue(label: "one"), DispatchQueue(label: "two"))
        for _ in 1...2 {
            let exploration = explore { scenario in
                scenario.thread("there") { one.sync { two.sync {} } }
                scenario.thread("back") { two.sync { one.sync {} } }
                scenario.check { one.sync { two.sync {} } }
            }
            #expect(exploration.inconclusive == nil, "\(exploration.summary)")
            #expect(exploration.reasons(.deadlock).count == 1, "\(exploration.summary)")
            #expect(exploration.passingSchedule != nil)
        }
    }
}

@Suite("The lab's own queue", .needsTheLab)
struct LabQueueTests {
    @Test("has its known result", arguments: programs)
    func known(_ program: KnownProgram) { program.check() }

    private static let programs = [
        KnownProgram("what precedes the sending happens before the work") { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                shared.value = 1
                queue.async { shared.value += 1 }
            }
            scenario.check { try Scenario.require(shared.value == 2, "not done") }
        },
        KnownProgram(
            "what the sender does after sending races with the work", .overlap, alwaysFails: true
        ) { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                shared.value = 2
            }
        },
        KnownProgram(
            "a second piece of work is not ordered after what the sender of the first does later",
            .dataRace, alwaysFails: true
        ) { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { _ = shared.value }
                shared.value = 1
                queue.async {}
            }
        },
        KnownProgram("work on one worker is ordered") { sendTwo($0, workers: 1) },
        KnownProgram("work on two workers is not ordered", .overlap) { sendTwo($0, workers: 2) },
        KnownProgram("work that is sent by work, or during set-up, runs before the end") {
            scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            queue.async {
                shared.value += 1
                queue.async { shared.value += 1 }
            }
            scenario.thread("other") { shared.other = 1 }
            scenario.check { try Scenario.require(shared.value == 2, "something was left undone") }
        },
        KnownProgram(
            "runs work in the order in which it was sent", explored: 4...(.max),
            threads: ["worker", "sender"]
        ) { scenario in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                for item in 1...3 { queue.async { shared.items.append(item) } }
            }
            scenario.check { try Scenario.require(shared.items == [1, 2, 3], "out of order") }
        },
        KnownProgram(
            "work waits for later work on the same queue: a deadlock", .deadlock, alwaysFails: true,
            reason: ["waits at"]
        ) { scenario in
            let queue = scenario.queue("worker")
            let semaphore = DispatchSemaphore(value: 0)
            scenario.thread("sender") {
                queue.async {
                    queue.async { semaphore.signal() }
                    semaphore.wait()
                }
            }
        },
        KnownProgram(
            "an idle worker is no deadlock, and no part of one", .deadlock,
            sentence: "'other' waits at \(place(4)) for a semaphore to be signalled"
        ) { scenario in
            _ = scenario.queue("worker")
            let semaphore = DispatchSemaphore(value: 0)
            scenario.thread("other") { semaphore.wait() }
        },
    ]

    private static func sendTwo(_ scenario: Scenario, workers: Int) {
        let (shared, queue) = (Shared(), scenario.queue("worker", workers: workers))
        scenario.thread("sender") { for _ in 1...2 { queue.async { shared.value += 1 } } }
    }

    @Test("an interleaving with a worker can be replayed")
    func replayed() throws {
        let describe = { (scenario: Scenario) in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                shared.value = 2
            }
        }
        let trace = try #require(try explore(describe).counterexample())
        let again = try Exploration.replay(trace.scheduleText, describe)
        #expect(again.schedule == trace.schedule)
        let kinds = trace.steps.map(\.kind)
        #expect(kinds.contains(.send) && kinds.contains(.receive), "\(trace.table())")
        // The step of the worker shows the line that sent the work.
        let received = trace.steps.first { $0.kind == .receive }
        #expect(received?.text.contains("queue.async") == true)
    }
}
