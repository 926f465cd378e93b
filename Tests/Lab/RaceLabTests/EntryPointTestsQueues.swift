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

    @Test("has its known result", arguments: programs + kinds)
    func known(_ program: KnownProgram) { program.check() }

    private static let kinds = Kind.allCases.flatMap { kind in
        [
            KnownProgram("work on a \(kind) queue releases a lock last", outcomes: ["1 2", "2 1"]) {
                scenario in
                let (lines, queue) = (Protected(), kind.queue)
                scenario.thread("sender") { queue.async { lines.add(1) } }
                scenario.thread("other") { lines.add(2) }
                scenario.outcome { lines.text }
            },
            increments(on: kind, waits: true), increments(on: kind, waits: false),
        ]
    }

    private static func increments(on kind: Kind, waits: Bool) -> KnownProgram {
        let describe: @Sendable (Scenario) -> Void = { scenario in
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
        let name = "two increments on a \(kind) queue, synchronous: \(waits)"
        return kind.isSerial
            ? KnownProgram("\(name): it is a lock", explored: 2...(.max), describe)
            : KnownProgram("\(name): it is none", .overlap, alwaysFails: true, describe)
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
        oppositeOrder,
    ]

    private static let oppositeOrder = {
        let (one, two) = (DispatchQueue(label: "one"), DispatchQueue(label: "two"))
        return KnownProgram(
            "two queues that wait for each other; a queue that outlives a deadlock is free again",
            .deadlock, alwaysFails: false
        ) { scenario in
            scenario.thread("there") { one.sync { two.sync {} } }
            scenario.thread("back") { two.sync { one.sync {} } }
            scenario.check { one.sync { two.sync {} } }
        }
    }()
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

    @Test("what the sender does after sending races with the work, which can be replayed")
    func replayed() throws {
        let describe = { (scenario: Scenario) in
            let (shared, queue) = (Shared(), scenario.queue("worker"))
            scenario.thread("sender") {
                queue.async { shared.value = 1 }
                shared.value = 2
            }
        }
        let trace = try #require(try explore(describe).counterexample())
        #expect(trace.findings.map(\.kind).contains(.overlap))
        let again = try Exploration.replay(trace.scheduleText, describe)
        #expect(again.schedule == trace.schedule)
        let kinds = trace.steps.map(\.kind)
        #expect(kinds.contains(.send) && kinds.contains(.receive), "\(trace.table())")
        // The step of the worker shows the line that sent the work.
        let received = trace.steps.first { $0.kind == .receive }
        #expect(received?.text.contains("queue.async") == true)
    }
}
