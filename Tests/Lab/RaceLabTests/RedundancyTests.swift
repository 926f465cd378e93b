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
        Miniature(testDescription: "a queue and a lock", explored: 24, redundant: 4) { scenario in
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
        Miniature(testDescription: "two queues", explored: 24, redundant: 18) { scenario in
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
            redundant: 12
        ) { scenario in
            let (shared, done) = (Shared(), Shared())
            let state = DispatchQueue(label: "state")
            let callbacks = DispatchQueue(label: "callbacks")
            for index in 0..<3 {
                scenario.thread("\(index)") {
                    let value = state.sync {
                        shared.value += 1
                        return shared.value
                    }
                    if value != 2 { callbacks.async { state.sync { done.value += 1 } } }
                }
            }
        },
    ]

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
