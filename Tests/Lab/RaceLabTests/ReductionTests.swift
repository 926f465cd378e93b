import Foundation
import Models
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// Threads and tasks that share several objects: the order of steps at one object restricts the
/// possible orders at another.
@Suite("Reduction loses no outcome", .needsTheLab)
struct ReductionTests {
    /// The lists to which each thread appends, in order.
    private typealias Program = [[Int]]

    private static func describe(_ program: Program, _ scenario: Scenario) {
        let lists = (0..<3).map { _ in Protected() }
        for (index, appends) in program.enumerated() {
            scenario.thread("thread \(index + 1)") {
                for (step, list) in appends.enumerated() { lists[list].add(10 * index + step) }
            }
        }
        scenario.outcome { lists.map(\.text).joined(separator: " / ") }
    }

    private static func explored(
        _ describe: @escaping (Scenario) -> Void, reduction: Bool
    ) -> Exploration {
        var options = Exploration.Options()
        options.reduction = reduction
        options.maximumInterleavings = 3_000
        return explore(options: options, describe)
    }

    private static func expectSameOutcomes(
        _ name: String, _ describe: @escaping (Scenario) -> Void
    ) {
        let reduced = explored(describe, reduction: true)
        let full = explored(describe, reduction: false)
        #expect(reduced.coverage == .all, "\(name): \(reduced.summary)")
        let lost = Set(full.outcomes.keys).subtracting(reduced.outcomes.keys)
        #expect(lost.isEmpty, "\(name) loses \(lost)")
        guard full.coverage == .all else { return }
        #expect(Set(reduced.outcomes.keys) == Set(full.outcomes.keys), "\(name)")
    }

    /// The third thread appends to the second list between the steps of the first, and before or
    /// after the second thread at the first list.
    @Test(
        "of few threads",
        arguments: [
            [[1], [0, 0], [1, 1, 0]],
            [[0], [2, 1, 2], [0, 1, 2], [1]],
            [[1, 1], [0, 0], [1, 0], [2, 1]],
        ])
    func few(_ program: [[Int]]) {
        Self.expectSameOutcomes("\(program)") { Self.describe(program, $0) }
    }

    @Test("of random threads", arguments: 0..<2)
    func random(block: UInt64) {
        for seed in block * 25..<block * 25 + 25 {
            var random = RandomNumbers(seed: seed)
            let program: Program = (0..<3 + random.below(2)).map { _ in
                (0...random.below(3)).map { _ in random.below(3) }
            }
            Self.expectSameOutcomes("\(program)") { Self.describe(program, $0) }
        }
    }

    /// What a thread does with a lock for readers and writers, a plain lock, and what these protect.
    private static func step(
        _ kind: Int, _ locks: (ReadWriteLock, NSLock), _ shared: Shared, _ seen: Seen
    ) {
        let (lock, plain) = locks
        switch kind {
        case 0, 1:
            if kind == 0 { lock.lockToRead() } else { lock.lockToWrite() }
            if kind == 0 { seen.note("\(shared.value)") } else { shared.value += 1 }
            lock.unlock()
        case 2, 3:
            let isTaken = kind == 2 ? lock.tryToRead() : lock.tryToWrite()
            seen.note(isTaken ? "taken" : "refused")
            if isTaken { lock.unlock() }
        case 4: plain.withLock { shared.other += 1 }
        case 5:
            let isTaken = plain.try()
            seen.note(isTaken ? "taken" : "refused")
            if isTaken { plain.unlock() }
        case 6: seen.note("\(shared.other)")
        default:
            // Both releases belong to one step.
            lock.lockToRead()
            plain.lock()
            plain.unlock()
            lock.unlock()
        }
    }

    @Test("of random readers, writers and attempts")
    func readersAndWriters() {
        for seed in 0..<UInt64(everyCaseIsTested ? 400 : 40) {
            var random = RandomNumbers(seed: seed)
            let program: Program = (0..<2 + random.below(2)).map { _ in
                (0...random.below(3)).map { _ in random.below(8) }
            }
            Self.expectSameOutcomes("\(program)") { scenario in
                let (locks, shared) = ((ReadWriteLock(), NSLock()), Shared())
                let seen = program.map { _ in Seen() }
                for (index, kinds) in program.enumerated() {
                    scenario.thread("\(index)") {
                        for kind in kinds { Self.step(kind, locks, shared, seen[index]) }
                    }
                }
                scenario.outcome { seen.map(\.text).joined(separator: " | ") }
            }
        }
    }

    @Test(
        "of tasks, one of which arrives at an actor that another one leaves to yield",
        .enabled(if: unavailableTasks == nil),
        arguments: [RandomTaskProgram.Step.note(8), .arrive(at: 1, 8), .reenter(1, 8)])
    func tasks(_ step: RandomTaskProgram.Step) {
        let program = RandomTaskProgram(
            tasks: [[.arrive(at: 0, 2)], [step], [.reenter(0, 1), step]], children: [[], []])
        Self.expectSameOutcomes("\(program)", program.describe)
    }

    @Test("few runs of random tasks are redundant", .enabled(if: unavailableTasks == nil))
    func cost() {
        var (reported, begun) = (0, 0)
        for seed in 0..<40 {
            let program = RandomTaskProgram(seed: UInt64(seed))
            let exploration = Self.explored(program.describe, reduction: true)
            reported += exploration.explored
            begun += exploration.explored + exploration.redundant
        }
        #expect(begun * 10 <= reported * 12)
    }
}
