import RaceLab
import Testing

/// A program with a known result, as a row of a table.
struct KnownProgram: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// All kinds of findings over all interleavings.
    private let findings: Set<Exploration.Finding.Kind>
    /// Whether every interleaving fails.
    private let alwaysFails: Bool
    /// A part of the reason of a finding.
    private let reason: String?
    /// All possible outcomes.
    private let outcomes: Set<String>
    /// How many interleavings are explored.
    private let explored: ClosedRange<Int>
    private let describe: @Sendable (Scenario) -> Void

    init(
        _ testDescription: String, _ findings: Exploration.Finding.Kind...,
        alwaysFails: Bool = false, reason: String? = nil, outcomes: Set<String> = [],
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
        if alwaysFails { #expect(exploration.passingSchedule == nil, "\(text)") }
        #expect(Set(exploration.outcomes.keys) == outcomes, "\(text)")
        #expect(explored.contains(exploration.explored), "\(text)")
        if let reason {
            #expect(exploration.findings.contains { $0.reason.contains(reason) }, "\(text)")
        }
    }
}
