import RaceLab
import Testing

/// A program with a known result, as a row of a table.
struct KnownProgram: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// All kinds of findings over all interleavings.
    private let findings: Set<Exploration.Finding.Kind>
    /// Whether every interleaving fails; `nil` if that is not compared.
    private let alwaysFails: Bool?
    /// Parts of the reason of exactly one finding.
    private let reason: [String]
    /// All possible outcomes.
    private let outcomes: Set<String>
    /// How many interleavings are explored.
    private let explored: ClosedRange<Int>
    private let describe: @Sendable (Scenario) -> Void

    init(
        _ testDescription: String, _ findings: Exploration.Finding.Kind...,
        alwaysFails: Bool? = nil, reason: [String] = [], outcomes: Set<String> = [],
        explored: ClosedRange<Int> = 1...(.max), _ describe: @escaping @Sendable (Scenario) -> Void
    ) {
        self.testDescription = testDescription
        self.findings = Set(findings)
        self.alwaysFails = alwaysFails
        self.reason = reason
        self.outcomes = outcomes
        self.explored = explored
        self.describe = describe
    }

    func check() {
        let exploration = explore(describe)
        let text = exploration.text()
        #expect(exploration.inconclusive == nil && exploration.coverage == .all, "\(text)")
        #expect(Set(exploration.findings.map(\.kind)) == findings, "\(text)")
        if let alwaysFails {
            #expect((exploration.passingSchedule == nil) == alwaysFails, "\(text)")
        }
        #expect(Set(exploration.outcomes.keys) == outcomes, "\(text)")
        #expect(explored.contains(exploration.explored), "\(text)")
        if !reason.isEmpty {
            let fitting = exploration.findings.filter { reason.allSatisfy($0.reason.contains) }
            #expect(fitting.count == 1, "\(text)")
        }
    }
}
