import Foundation
import RaceLab
import Testing

/// Threads that start other threads at the same time. Two runs with different orders of the starts
/// number those differently, so the search knows them by their origins.
@Suite("Starts at the same time", .needsTheLab)
struct StartTests {
    enum Way: String, CaseIterable, Sendable {
        case thread, task, serialQueue, globalQueue

        func start(_ work: @escaping @Sendable () -> Void) {
            switch self {
            case .thread: Thread.detachNewThread(work)
            case .task: Task { work() }
            case .serialQueue: DispatchQueue(label: "one of many").async(execute: work)
            case .globalQueue: DispatchQueue.global().async(execute: work)
            }
        }
    }

    /// Three threads, each of which starts a thread that does this.
    private static func scenario(
        _ way: Way, depth: Int = 1, _ work: @escaping @Sendable (Int, Seen, NSLock) -> Void
    ) -> @Sendable (Scenario) -> Void {
        @Sendable func start(_ depth: Int, _ work: @escaping @Sendable () -> Void) {
            if depth == 0 { work() } else { way.start { start(depth - 1, work) } }
        }
        return { scenario in
            let (seen, lock) = (Seen(), NSLock())
            for index in 0..<3 {
                scenario.thread("\(index)") { start(depth) { work(index, seen, lock) } }
            }
            scenario.outcome { seen.text }
        }
    }

    private static let unreduced = Exploration.Options.with {
        $0.reduction = false
        $0.maximumInterleavings = 2_000
    }

    @Test("have no order", arguments: Way.allCases)
    func noOrder(_ way: Way) {
        let exploration = explore(Self.scenario(way) { _, _, _ in })
        #expect(exploration.survives)
        #expect(exploration.explored == 1 && exploration.redundant == 0)
    }

    /// The started threads make one, two and three steps: 6! / (1! · 2! · 3!) orders.
    @Test("leave every order to what is started", arguments: Way.allCases, [1, 2])
    func everyOrder(_ way: Way, depth: Int) {
        let scenario = Self.scenario(way, depth: depth) { index, seen, lock in
            for _ in 0...index { lock.withLock { seen.note("\(index)") } }
        }
        let exploration = explore(scenario)
        #expect(exploration.survives && exploration.outcomes.count == 60)
        #expect(exploration.explored == 60 && exploration.redundant == 0)
        let full = explore(options: Self.unreduced, scenario)
        #expect(Set(full.outcomes.keys).isSubset(of: exploration.outcomes.keys))
    }

    /// Whoever is first to send to the queue starts its thread. So which thread has which number
    /// depends on the order of sends, and a search that goes by numbers loses two orders.
    @Test("are not mistaken for one another")
    func delayed() {
        let exploration = explore { scenario in
            let (seen, queue) = (Seen(), DispatchQueue(label: "queue"))
            scenario.thread("0") { queue.asyncAfter(deadline: .now()) { seen.note("0") } }
            scenario.thread("1") { queue.async { seen.note("1") } }
            scenario.thread("2") { queue.asyncAfter(deadline: .now()) { seen.note("2") } }
            scenario.outcome { seen.text }
        }
        #expect(exploration.outcomes.count == 6)
        #expect(exploration.explored == 6 && exploration.redundant == 0)
    }

    @Test("leave each started thread its own random numbers", arguments: Way.allCases)
    func randomNumbers(_ way: Way) {
        let scenario = Self.scenario(way) { index, seen, lock in
            let number = Int.random(in: 1...1_000_000)
            lock.withLock { seen.note("\(index):\(number)") }
        }
        for exploration in [explore(scenario), explore(options: Self.unreduced, scenario)] {
            let drawn = exploration.outcomes.keys.map { $0.split(separator: " ").sorted() }
            #expect(exploration.outcomes.count == 6 && Set(drawn).count == 1, "\(drawn)")
        }
    }

    @Test("leave each started thread other random numbers than the rest")
    func distinctNumbers() {
        let exploration = explore { scenario in
            let (seen, lock) = (Seen(), NSLock())
            for index in 0..<2 {
                scenario.thread("\(index)") {
                    for _ in 0..<2 {
                        Thread.detachNewThread {
                            let number = UInt64.random(in: 0 ... .max)
                            lock.withLock { seen.note("\(number)") }
                        }
                    }
                }
            }
            scenario.outcome { "\(Set(seen.text.split(separator: " ")).count) numbers" }
        }
        #expect(Array(exploration.outcomes.keys) == ["4 numbers"])
    }

    @Test("have the order of a schedule, which can be replayed", arguments: Way.allCases, 0..<6)
    func replay(_ way: Way, order: Int) throws {
        let orders = ["0 1 2", "0 2 1", "1 0 2", "1 2 0", "2 0 1", "2 1 0"]
        let describe = Self.scenario(way) { index, seen, lock in
            lock.withLock { seen.note("\(index)") }
        }
        let exploration = explore { scenario in
            describe(scenario)
            for (index, outcome) in orders.enumerated() {
                scenario.expect(outcome, index == order ? .forbidden : .acceptable, "an order")
            }
        }
        #expect(exploration.failing == 1)
        let trace = try #require(try exploration.counterexample())
        #expect(trace.findings.map(\.reason) == ["'\(orders[order])': an order"])
        let starts = trace.steps.filter { $0.thread > 2 }.map(\.thread)
        #expect(Set(starts) == [3, 4, 5])
    }

    /// It is computed from one in which the first thread is preempted after its start. There the
    /// started threads have other numbers.
    @Test("do not keep a counterexample from being the smallest", arguments: Way.allCases)
    func smallest(_ way: Way) throws {
        let exploration = explore { scenario in
            let (seen, lock) = (Seen(), NSLock())
            for index in 0..<2 {
                scenario.thread("\(index)") {
                    way.start { for _ in 0..<index { lock.withLock {} } }
                    lock.withLock { seen.note("\(index)") }
                }
            }
            scenario.outcome { seen.text }
            scenario.expect("0 1", .acceptable, "the order of the threads")
        }
        let trace = try #require(try exploration.counterexample())
        let threads = trace.steps.map(\.thread).filter { $0 < 2 }
        #expect(threads == threads.sorted(by: >), "\(trace.scheduleText)")
    }
}
