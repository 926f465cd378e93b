import RaceLab
import RaceLabTesting
import Synchronization
import Testing

/// The cost of an exploration: with reduction, one run for each interleaving that it reports.
@Suite("Cost", .needsTheLab)
struct CostTests {
    private static func reduced(_ describe: @escaping (Scenario) -> Void) -> Exploration {
        explore(describe)
    }

    /// A writer after two readers costs one more run for each reader.
    private static let withReaders = [Classic.cacheMakesTwice.name, Classic.cacheLooksAgain.name]

    @Test("no run of a classic repeats another one's interleaving", arguments: Classic.all)
    func classics(_ classic: Classic) {
        let exploration = classic.exploration {
            $0.reduction = true
            $0.memory = .sequentiallyConsistent
        }
        #expect(exploration.redundant <= (Self.withReaders.contains(classic.name) ? 2 : 0))
    }

    /// A loop that reads an old value once more is begun, and then found to repeat itself.
    @Test("old values cost the classics with weak orderings only", arguments: Classic.all)
    func oldValues(_ classic: Classic) {
        let strict = classic.exploration {
            $0.reduction = true
            $0.memory = .sequentiallyConsistent
        }
        let all = classic.exploration { $0.reduction = true }
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
        let exploration = Self.reduced { scenario in
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
        let exploration = Self.reduced { scenario in
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
        let exploration = Self.reduced { scenario in
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

    // MARK: The smallest counterexample

    @Test(
        "the smallest counterexample is computed from any that fails",
        arguments: Classic.all + SoundnessTests.reducible)
    func smallest(_ classic: Classic) {
        let full = classic.exploration()
        let reduced = classic.exploration { $0.reduction = true }
        for finding in full.findings {
            let same = reduced.findings.first { $0.description == finding.description }
            #expect(same?.schedule.switches == finding.schedule.switches)
            #expect(same?.schedule.choices.count == finding.schedule.choices.count)
        }
    }
}
