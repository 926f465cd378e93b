import RaceLab
import Testing

/// A program with a known result, as a row of a table.
struct KnownProgram: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// All kinds of findings over all interleavings.
    private let findings: Set<Exploration.Finding.Kind>
    /// Whether every interleaving fails; `nil` if that is not compared.
    private let alwaysFails: Bool?
    /// Parts of the reason of exactly one finding: of the only one, if there is only one kind.
    private let reason: [String]
    /// The whole reason of the only finding.
    private let sentence: String?
    /// All possible outcomes.
    private let outcomes: Set<String>
    /// How many interleavings are explored.
    private let explored: ClosedRange<Int>
    /// The names of all threads; `nil` if they are not compared.
    private let threads: [String]?
    private let options: Exploration.Options
    /// Whether the result is the same without reduction.
    private let everyOrder: Bool
    /// Part of the reason why there is no verdict.
    private let noVerdict: String?
    /// Where the lab finds what it cannot control: in the file of the row, unless it says otherwise.
    private let place: Substring?
    private let describe: @Sendable (Scenario) -> Void

    init(
        _ testDescription: String, _ findings: Exploration.Finding.Kind...,
        alwaysFails: Bool? = nil, reason: [String] = [], sentence: String? = nil,
        outcomes: Set<String> = [], explored: ClosedRange<Int> = 1...(.max),
        threads: [String]? = nil, options: Exploration.Options = Exploration.Options(),
        everyOrder: Bool = false, noVerdict: String? = nil, at place: String = #fileID,
        _ describe: @escaping @Sendable (Scenario) -> Void
    ) {
        self.testDescription = testDescription
        self.findings = Set(findings)
        self.alwaysFails = alwaysFails
        self.reason = reason
        self.sentence = sentence
        self.outcomes = outcomes
        self.explored = explored
        self.threads = threads
        self.options = options
        self.everyOrder = everyOrder
        self.noVerdict = noVerdict
        self.place = place.split(separator: "/").last
        self.describe = describe
    }

    @discardableResult
    func check() -> Exploration {
        let exploration = explore(options: options, describe)
        if let noVerdict {
            expectNoVerdict(exploration, noVerdict)
            return exploration
        }
        check(exploration)
        expectReplay(exploration)
        #expect(explored.contains(exploration.explored), "\(exploration.text())")
        guard everyOrder else { return exploration }
        var options = options
        options.reduction = false
        let complete = explore(options: options, describe)
        check(complete)
        let reasons = [exploration, complete].map { Set($0.findings.map(\.description)) }
        #expect(reasons[0] == reasons[1])
        return exploration
    }

    private func check(_ exploration: Exploration) {
        let text = exploration.text()
        #expect(exploration.inconclusive == nil && exploration.coverage == .all, "\(text)")
        #expect(Set(exploration.findings.map(\.kind)) == findings, "\(text)")
        #expect(exploration.survives == findings.isEmpty, "\(text)")
        if let alwaysFails {
            #expect((exploration.passingSchedule == nil) == alwaysFails, "\(text)")
        }
        #expect(Set(exploration.outcomes.keys) == outcomes, "\(text)")
        if !reason.isEmpty {
            let fitting = exploration.findings.filter { reason.allSatisfy($0.reason.contains) }
            #expect(fitting.count == 1, "\(text)")
            if findings.count == 1 { #expect(exploration.findings.count == 1, "\(text)") }
        }
        if let sentence { #expect(exploration.findings.map(\.reason) == [sentence]) }
        if let threads { #expect(exploration.threads == threads) }
    }

    private func expectReplay(_ exploration: Exploration) {
        #expect(throws: Never.self) {
            guard let trace = try exploration.counterexample() else { return }
            let again = try exploration.replay(trace.scheduleText)
            #expect(again.schedule == trace.schedule, "\(exploration.text())")
        }
    }

    private func expectNoVerdict(_ exploration: Exploration, _ words: String) {
        let reason = exploration.uncontrolled?.what ?? exploration.inconclusive?.description
        #expect(reason?.contains(words) == true, "\(exploration.text())")
        #expect(!exploration.survives)
        let kinds = exploration.findings.map(\.kind)
        #expect(!kinds.contains(.deadlock) && !kinds.contains(.crash), "\(exploration.text())")
        let found = exploration.uncontrolled?.place
        guard let place, found != nil || place.contains(":") else { return }
        #expect(found?.contains(place) == true, "\(found ?? exploration.text())")
    }
}
