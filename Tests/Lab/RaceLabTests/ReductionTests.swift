import Foundation
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
