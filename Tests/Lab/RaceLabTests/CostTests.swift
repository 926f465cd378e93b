import Foundation
import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The cost of steps that may fail, and of work that is sent to queues: no run repeats an
/// interleaving.
@Suite("What attempts and queues cost", .needsTheLab)
struct RedundancyTests {
    struct Miniature: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let explored: Int
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

    /// Threads that write on a concurrent queue, and read there.
    private static func readersAndWriters(
        _ threads: Int,
        write: @escaping @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> Void
    ) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (shared, seen) = (Shared(), (0..<threads).map { _ in Seen() })
            let queue = DispatchQueue(label: "queue", attributes: .concurrent)
            for index in 0..<threads {
                scenario.thread("\(index)") {
                    write(queue) { shared.value += 1 }
                    seen[index].note("\(queue.sync { shared.value })")
                }
            }
            scenario.outcome { seen.map(\.text).joined(separator: " | ") }
        }
    }

    /// Sends work, as part of a group, that notes its number under a lock.
    private static func grouped(
        _ count: Int, then end: @escaping @Sendable (DispatchGroup, DispatchQueue, Seen) -> Void
    ) -> @Sendable (Scenario) -> Void {
        { scenario in
            let (lock, seen) = (NSLock(), Seen())
            scenario.thread("sender") {
                let queue = DispatchQueue(label: "queue", attributes: .concurrent)
                let group = DispatchGroup()
                for index in 0..<count {
                    group.enter()
                    queue.async {
                        lock.withLock { seen.note("\(index)") }
                        group.leave()
                    }
                }
                end(group, queue, seen)
            }
            scenario.outcome { seen.text }
        }
    }

    private static let groups = [
        Miniature(
            testDescription: "work in a group", explored: 6,
            describe: grouped(3) { group, _, seen in
                group.wait()
                seen.note("done")
            }),
        Miniature(
            testDescription: "work in a group, and what follows it", explored: 10,
            describe: grouped(2) { group, queue, seen in
                group.notify(queue: queue) { seen.note("done") }
            }),
        Miniature(
            testDescription: "work in a group that is asked whether it is done", explored: 8,
            describe: grouped(2) { group, _, _ in _ = group.wait(timeout: .now()) }),
        Miniature(testDescription: "threads that enter a group and leave it", explored: 1) {
            scenario in
            let (group, seen) = (DispatchGroup(), Seen())
            for index in 0..<3 {
                scenario.thread("\(index)") {
                    group.enter()
                    group.leave()
                }
            }
            scenario.check { seen.note(group.wait(timeout: .now()) == .success ? "empty" : "not") }
            scenario.outcome { seen.text }
        },
    ]

    static let miniatures = [
        Miniature(testDescription: "two threads that try once", explored: 4, describe: tries(2, 1)),
        Miniature(
            testDescription: "two threads that try three times", explored: 192,
            describe: tries(2, 3)),
        Miniature(
            testDescription: "three threads that try once", explored: 21, describe: tries(3, 1)),
        Miniature(testDescription: "a queue and a lock", explored: 24) { scenario in
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
        Miniature(testDescription: "two queues", explored: 24) { scenario in
            let (lock, shared) = (NSLock(), Shared())
            let queues = [DispatchQueue(label: "left"), DispatchQueue(label: "right")]
            for index in 0..<2 {
                scenario.thread("\(index)") {
                    for queue in queues { queue.async { lock.withLock { shared.value += 1 } } }
                }
            }
        },
        Miniature(testDescription: "a concurrent queue", explored: 10) { scenario in
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
            testDescription: "readers that wait, writers that send", explored: 4,
            describe: readersAndWriters(2) { $0.async(flags: .barrier, execute: $1) }),
        Miniature(
            testDescription: "readers and writers that wait", explored: 4,
            describe: readersAndWriters(2) { $0.sync(flags: .barrier, execute: $1) }),
        Miniature(testDescription: "a queue, a task and a stream", explored: 15) { scenario in
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
        Miniature(testDescription: "two tasks on one actor, and a lock", explored: 2) { scenario in
            let account = Account()
            for index in 0..<2 {
                scenario.task("\(index)") { await account.add(index) }
            }
            scenario.outcome { account.text }
        },
        Miniature(
            testDescription: "three tasks, each of which cancels one", explored: 29
        ) { scenario in
            for index in 0..<3 {
                scenario.task("\(index)") {
                    let task = Task {}
                    task.cancel()
                    await task.value
                }
            }
        },
    ]

    private actor Account {
        private let (lock, seen) = (NSLock(), Seen())
        nonisolated var text: String { seen.text }

        func add(_ value: Int) {
            lock.withLock { seen.note("\(value)") }
        }
    }

    @Test("no run is redundant, and none loses an outcome", arguments: miniatures + groups)
    func miniature(_ miniature: Miniature) {
        let reduced = explore(miniature.describe)
        #expect(reduced.coverage == .all)
        #expect(reduced.explored == miniature.explored, "\(reduced.explored)")
        #expect(reduced.redundant == 0, "\(reduced.redundant)")
        let options = Exploration.Options.with {
            $0.reduction = false
            $0.maximumInterleavings = 2_000
        }
        let full = explore(options: options, miniature.describe)
        #expect(Set(reduced.outcomes.keys).isSuperset(of: full.outcomes.keys))
    }
}

/// The cost of an exploration: with reduction, one run for each interleaving that it reports.
@Suite("Cost", .needsTheLab)
struct CostTests {
    /// A loop that reads an old value once more is begun, and then found to repeat itself.
    @Test(
        "no run of a classic is redundant, and old values cost those with weak orderings only",
        arguments: Classic.all)
    func classics(_ classic: Classic) {
        let strict = classic.exploration {
            $0.reduction = true
            $0.memory = .sequentiallyConsistent
        }
        let all = classic.exploration { $0.reduction = true }
        #expect(strict.redundant == 0, "\(strict.redundant)")
        #expect(all.hasWeakOrderings == strict.hasWeakOrderings)
        if !all.hasWeakOrderings {
            #expect(all.explored == strict.explored && all.redundant == strict.redundant)
        }
        #expect(all.redundant <= max(2, all.explored))
    }

    @Test(
        "independent steps are explored in one order",
        arguments: [(2, 8), (3, 10), (8, 4)])
    func independent(threads: Int, steps: Int) {
        let exploration = explore { scenario in
            for thread in 0..<threads {
                let counter = Counter()
                scenario.thread("\(thread)") { for _ in 0..<steps { counter.value = 1 } }
            }
        }
        #expect(exploration.survives && exploration.explored == 1 && exploration.redundant == 0)
    }

    /// Each of `threads` threads writes a variable that only the last thread reads. There is one
    /// interleaving for each set of writes that precede their reads.
    @Test("one reader and many writers", arguments: [2, 4, 8])
    func oneReader(writers: Int) {
        let exploration = explore { scenario in
            let cells = (0..<writers).map { _ in Box(Atomic(0)) }
            for (index, cell) in cells.enumerated() {
                scenario.thread("\(index)") { cell.value.store(1, ordering: .relaxed) }
            }
            var seen: [Int] = []
            scenario.thread("reader") { seen = cells.map { $0.value.load(ordering: .relaxed) } }
            scenario.outcome { "\(seen)" }
        }
        #expect(exploration.explored == 1 << writers && exploration.outcomes.count == 1 << writers)
        #expect(exploration.redundant == 0)
    }

    @Test("an exchange that fails is a read", arguments: [(1, 2), (2, 1)])
    func failedExchange(expected: Int, explored: Int) {
        let exploration = explore { scenario in
            let word = Box(Atomic(0))
            for (index, expected) in [expected - 1, 2].enumerated() {
                scenario.thread("\(index)") {
                    _ = word.value.compareExchange(
                        expected: expected, desired: 3, ordering: .relaxed)
                }
            }
        }
        #expect(exploration.explored == explored && exploration.redundant == 0)
    }
}
