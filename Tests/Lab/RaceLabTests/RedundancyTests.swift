import Dispatch
import Foundation
import RaceLab
import RaceLabTesting
import Testing

/// The cost of steps that may fail, and of work that is sent to queues: how many runs repeat an
/// interleaving.
@Suite("What attempts and queues cost", .needsTheLab)
struct RedundancyTests {
    struct Miniature: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let explored: Int
        /// The most runs that may be redundant.
        let redundant: Int
        let describe: @Sendable (Scenario) -> Void
    }

    /// Threads that try to take one lock, and count if they get it.
    private static func tries(_ threads: Int, _ count: Int) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (lock, shared) = (NSLock(), Shared())
            let seen = (0..<threads).map { _ in Seen() }
            for index in 0..<threads {
                scenario.thread("\(index)") {
                    for _ in 0..<count {
                        let isTaken = lock.try()
                        seen[index].note(isTaken ? "taken" : "refused")
                        guard isTaken else { continue }
                        shared.value += 1
                        lock.unlock()
                    }
                }
            }
            scenario.outcome { seen.map(\.text).joined(separator: " | ") }
        }
    }

    static let miniatures = [
        Miniature(
            testDescription: "two threads that try once", explored: 4, redundant: 0,
            describe: tries(2, 1)),
        Miniature(
            testDescription: "two threads that try twice", explored: 26, redundant: 0,
            describe: tries(2, 2)),
        Miniature(
            testDescription: "two threads that try three times", explored: 192, redundant: 0,
            describe: tries(2, 3)),
        Miniature(
            testDescription: "three threads that try once", explored: 21, redundant: 0,
            describe: tries(3, 1)),
        Miniature(testDescription: "a queue and a lock", explored: 24, redundant: 0) { scenario in
            let (lock, shared, queue) = (NSLock(), Shared(), DispatchQueue(label: "queue"))
            let seen = Seen()
            for index in 0..<2 {
                scenario.thread("\(index)") {
                    queue.async {
                        lock.withLock { shared.value += 1 }
                        seen.note("\(index)")
                    }
                    lock.withLock { shared.value += 1 }
                }
            }
            scenario.outcome { seen.text }
        },
        Miniature(
            testDescription: "one piece of work from each of two threads", explored: 2, redundant: 0
        ) { scenario in
            let (shared, queue) = (Shared(), DispatchQueue(label: "queue"))
            for index in 0..<2 {
                scenario.thread("\(index)") { queue.async { shared.value += index } }
            }
            scenario.outcome { "\(shared.value)" }
        },
        Miniature(
            testDescription: "work, and a thread that comes itself", explored: 6, redundant: 0
        ) { scenario in
            let (seen, queue) = (Seen(), DispatchQueue(label: "queue"))
            for index in 0..<2 {
                scenario.thread("\(index)") { queue.async { seen.note("\(index)") } }
            }
            scenario.thread("2") { queue.sync { seen.note("2") } }
            scenario.outcome { seen.text }
        },
        Miniature(testDescription: "two queues", explored: 24, redundant: 0) { scenario in
            let (lock, shared) = (NSLock(), Shared())
            let queues = [DispatchQueue(label: "left"), DispatchQueue(label: "right")]
            for index in 0..<2 {
                scenario.thread("\(index)") {
                    for queue in queues { queue.async { lock.withLock { shared.value += 1 } } }
                }
            }
        },
        Miniature(testDescription: "a concurrent queue", explored: 10, redundant: 0) { scenario in
            let (lock, shared) = (NSLock(), Shared())
            let queue = DispatchQueue(label: "queue", attributes: .concurrent)
            for index in 0..<2 {
                scenario.thread("\(index)") {
                    queue.async { lock.withLock { shared.value += 1 } }
                    queue.async(flags: .barrier) { lock.withLock { shared.value += 1 } }
                }
            }
        },
        Miniature(
            testDescription: "a queue for the state, and one for callbacks", explored: 24,
            redundant: 0
        ) { scenario in
            let (shared, seen) = (Shared(), Seen())
            let state = DispatchQueue(label: "state")
            let callbacks = DispatchQueue(label: "callbacks")
            for index in 0..<3 {
                scenario.thread("\(index)") {
                    let value = state.sync {
                        shared.value += 1
                        seen.note("\(index)")
                        return shared.value
                    }
                    if value != 2 {
                        callbacks.async { state.sync { seen.note("done \(value)") } }
                    }
                }
            }
            scenario.outcome { seen.text }
        },
        Miniature(
            testDescription: "a queue, a task and a stream", explored: 21, redundant: 0
        ) { scenario in
            let (shared, seen, queue) = (Shared(), Seen(), DispatchQueue(label: "queue"))
            let (stream, continuation) = AsyncStream<Int>.makeStream()
            scenario.task("reader") {
                for await value in stream { seen.note("\(value)") }
            }
            scenario.thread("sender") {
                queue.async { continuation.yield(shared.value) }
                queue.async { continuation.finish() }
            }
            scenario.thread("writer") { queue.sync { shared.value += 1 } }
            scenario.outcome { seen.text }
        },
        Miniature(
            testDescription: "two tasks on one actor, and a lock", explored: 2, redundant: 0
        ) { scenario in
            let account = Account()
            for index in 0..<2 {
                scenario.task("\(index)") { await account.add(index) }
            }
            scenario.outcome { account.text }
        },
    ]

    private actor Account {
        private let (lock, seen) = (NSLock(), Seen())
        nonisolated var text: String { seen.text }

        func add(_ value: Int) {
            lock.withLock { seen.note("\(value)") }
        }
    }

    @Test("no more runs than this are redundant, and none loses an outcome", arguments: miniatures)
    func miniature(_ miniature: Miniature) {
        var options = Exploration.Options()
        options.reduction = true
        let reduced = explore(options: options, miniature.describe)
        #expect(reduced.coverage == .all)
        #expect(reduced.explored == miniature.explored, "\(reduced.explored)")
        #expect(reduced.redundant <= miniature.redundant, "\(reduced.redundant)")
        options.reduction = false
        options.maximumInterleavings = 2_000
        let full = explore(options: options, miniature.describe)
        #expect(Set(reduced.outcomes.keys).isSuperset(of: full.outcomes.keys))
    }
}
