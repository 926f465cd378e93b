import CRaceLab
import Models
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

/// The independent model of memory agrees with the literature, so that the lab can be compared
/// with it.
@Suite("The memory model of the tests")
struct MemoryModelTests {
    @Test("answers as the literature does", arguments: Litmus.all)
    func literature(litmus: Litmus) {
        let inOrder = MemoryModel(litmus.program, isInOrder: true)
        let whole = MemoryModel(litmus.program, isInOrder: false)
        let isShown = inOrder.outcomes.contains(where: litmus.isAsked)
        let isAllowed = whole.outcomes.contains(where: litmus.isAsked)
        let answer: Litmus.Answer = isShown ? .allowed : isAllowed ? .outOfOrder : .forbidden
        #expect(answer == litmus.answer, "\(whole.outcomes.sorted())")
        #expect(inOrder.outcomes.isSubset(of: whole.outcomes))
        #expect(whole.hasRace == litmus.isRace)
    }

    @Test("finds each forbidden outcome if it ignores the axioms", arguments: Litmus.all)
    func axioms(litmus: Litmus) {
        let free = MemoryModel(litmus.program, isInOrder: false, obeysAxioms: false)
        // In load buffering, each load would have to read from a store that comes later.
        let isFound = free.outcomes.contains(where: litmus.isAsked)
        #expect(isFound != litmus.name.hasPrefix("LB"))
    }
}

/// The lab finds the outcomes and the races of the model, no more and no fewer.
@Suite("The lab agrees with the memory model", .needsTheLab)
struct LitmusTests {
    @Test("on the programs of the literature", arguments: Litmus.all)
    func literature(litmus: Litmus) {
        LitmusComparison(litmus.program).expectEqual(litmus.name)
    }

    private static let families: [(blocks: [Int], threads: Int, orderings: [MemoryOrdering])] = [
        ((0..<150).sample(10), 2, .all), ((0..<50).sample(4), 3, .all),
        ((0..<38).sample(4), 2, [.sequentiallyConsistent]),
        ((0..<12).sample(2), 3, [.sequentiallyConsistent]),
    ]

    @Test("on random programs", arguments: families.indices)
    func random(family: Int) {
        let (blocks, threads, orderings) = Self.families[family]
        for seed in blocks.flatMap({ ($0 * 10)..<($0 * 10 + 10) }) {
            let program = LitmusProgram(
                seed: UInt64(seed), threads: threads, orderings: orderings)
            LitmusComparison(program).expectEqual("seed \(seed), \(threads) threads")
        }
    }

    /// Each pair of orderings with which a thread can publish a page, and another one receive it.
    private static let publications: [(publish: [LitmusOperation], receive: [LitmusOperation])] =
        MemoryOrdering.allCases.flatMap { first in
            MemoryOrdering.allCases.flatMap { second in
                [
                    (
                        [.fence(first), .store(.x, 1, .relaxed)],
                        [.load(.x, .relaxed), .fence(second)]
                    ),
                    ([.exchange(.x, 1, first)], [.exchange(.x, 2, second)]),
                    (
                        [.compareExchange(.x, from: 0, to: 1, first)],
                        [.compareExchange(.x, from: 1, to: 2, second)]
                    ),
                ]
            }
        }
        + [MemoryOrdering].ofStores.flatMap { first in
            [MemoryOrdering].ofLoads.map { ([.store(.x, 1, first)], [.load(.x, $0)]) }
        }

    @Test("on a page that is published with any orderings")
    func publications() {
        for (publish, receive) in Self.publications {
            let program = LitmusProgram([.write] + publish, receive + [.onlyIf(1), .read])
            LitmusComparison(program).expectEqual("\(publish) \(receive)")
        }
    }

    @Test("without reduction, and with enough preemptions", arguments: Litmus.all.sample(18))
    func everyOrder(litmus: Litmus) {
        LitmusComparison(litmus.program) { $0.reduction = false }.expectEqual(litmus.name)
        LitmusComparison(litmus.program) { $0.preemptionBound = 10 }.expectEqual(litmus.name)
    }

    @Test("in a child process", arguments: Litmus.all.sample(5))
    func isolated(litmus: Litmus) {
        LitmusComparison(litmus.program) { $0.isolation = .patient }.expectEqual(litmus.name)
    }

    /// Two stores and two loads of each thread have 35 execution graphs, three have 364.
    @Test(
        "one run for each execution graph of store buffering",
        arguments: [(1, 4), (2, 35), (3, 364)])
    func storeBuffering(times: Int, graphs: Int) {
        let program = LitmusProgram(
            threads: [(LitmusOperation.Place.x, LitmusOperation.Place.y), (.y, .x)].map {
                own, other in
                (1...times).flatMap {
                    [LitmusOperation.store(own, $0, .relaxed), .load(other, .relaxed)]
                }
            })
        let exploration = explore(program.describe)
        #expect(exploration.explored == graphs && exploration.redundant == 0)
        if times < 3 { #expect(MemoryModel(program, isInOrder: true).graphs == graphs) }
    }

    /// Steps that are not atomic, and exchanges that fail, cost more runs than there are graphs.
    @Test("at most 1.5 runs for each execution graph of a program")
    func cost() {
        var (runs, graphs) = (0, 0)
        for program in Litmus.all.map(\.program)
            + (0..<100).map({ LitmusProgram(seed: $0, threads: $0 % 4 == 0 ? 3 : 2) })
        {
            let comparison = LitmusComparison(program)
            runs += comparison.exploration.explored + comparison.exploration.redundant
            graphs += comparison.model.graphs
        }
        #expect(2 * runs <= 3 * graphs, "\(runs) runs for \(graphs) graphs")
    }

    @Test(
        "the comparison finds faults",
        arguments: [
            (fault: RL_FAULT_NO_OLD_VALUES, isMissing: true), (RL_FAULT_NO_COHERENCE, false),
            (RL_FAULT_NO_SC_ORDER, false), (RL_FAULT_SKIP_LAST_ALTERNATIVE, true),
            (RL_FAULT_EVERY_ATOMIC_ORDERS, true),
        ])
    func faults(fault: Int, isMissing: Bool) {
        let wrong = Litmus.all.filter { litmus in
            let comparison = LitmusComparison(litmus.program) { $0.faults = UInt32(fault) }
            return !(isMissing ? comparison.missing : comparison.excessive).isEmpty
        }
        #expect(wrong.count >= 5, "\(wrong.map(\.name))")
    }

    @Test("the comparison finds that loads read the newest value only")
    func restricted() {
        let wrong = Litmus.all.filter { litmus in
            let comparison = LitmusComparison(litmus.program) {
                $0.memory = .sequentiallyConsistent
            }
            #expect(comparison.excessive.isEmpty, "\(litmus.name)")
            return !comparison.missing.isEmpty
        }
        #expect(wrong.count >= 20, "\(wrong.map(\.name))")
    }
}

/// What the lab finds and what the model allows.
private struct LitmusComparison {
    let program: LitmusProgram
    let exploration: Exploration
    let model: MemoryModel

    init(_ program: LitmusProgram, _ change: (inout Exploration.Options) -> Void = { _ in }) {
        self.program = program
        var options = Exploration.Options()
        change(&options)
        exploration = explore(options: options, program.describe)
        model = MemoryModel(program, isInOrder: true)
    }

    var missing: Set<String> { model.outcomes.subtracting(exploration.outcomes.keys) }
    var excessive: Set<String> { Set(exploration.outcomes.keys).subtracting(model.outcomes) }

    private var hasRace: Bool {
        exploration.findings.contains { $0.kind == .dataRace || $0.kind == .overlap }
    }

    func expectEqual(_ name: String) {
        #expect(exploration.inconclusive == nil, "\(name)\n\(program)\n\(exploration.summary)")
        #expect(exploration.limit == nil, "\(name)\n\(program)\n\(exploration.summary)")
        #expect(
            missing.isEmpty && excessive.isEmpty, "\(name): \(missing) \(excessive)\n\(program)")
        #expect(hasRace == model.hasRace, "\(name)\n\(program)")
    }
}
