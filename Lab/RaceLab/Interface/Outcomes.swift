extension Scenario {
    /// The declaration of an outcome that a scenario can end in, as in jcstress.
    public struct ExpectedOutcome: Hashable, Codable, Sendable {
        /// What it means if an interleaving ends in an outcome.
        public enum Verdict: String, Codable, Sendable, CaseIterable {
            /// It is correct. If no interleaving ends in it, the code may synchronize more than
            /// necessary: see ``Exploration/unreached``.
            case acceptable
            /// It is correct, but worth knowing about. It need not occur.
            case interesting
            /// It is a failure.
            case forbidden
        }

        /// The outcome, as the closure passed to ``Scenario/outcome(_:)`` names it.
        public let outcome: String
        /// What it means if an interleaving ends in it.
        public let verdict: Verdict
        /// How it occurs, or why it must not, in a sentence.
        public let meaning: String
    }

    /// Declares one of the outcomes that ``outcome(_:)`` names.
    ///
    /// ```swift
    /// scenario.outcome { "\(counter.value)" }
    /// scenario.expect("2", .acceptable, "each increment counts")
    /// scenario.expect("1", .forbidden, "one overwrote the other")
    /// ```
    ///
    /// If a scenario declares an outcome, every outcome that it does not declare is a failure, of
    /// the kind ``Exploration/Finding/Kind/forbiddenOutcome``.
    public func expect(
        _ outcome: String, _ verdict: Scenario.ExpectedOutcome.Verdict, _ meaning: String
    ) {
        if expectations.contains(where: { $0.outcome == outcome }) {
            isMistaken("the outcome '\(outcome)' is declared twice")
            return
        }
        expectations.append(
            Scenario.ExpectedOutcome(outcome: outcome, verdict: verdict, meaning: meaning))
    }

    /// Why a run must not end in this outcome; `nil` if it may.
    func objection(to outcome: String) -> String? {
        guard !expectations.isEmpty else { return nil }
        guard let expected = expectations.first(where: { $0.outcome == outcome }) else {
            return "'\(outcome)' is none of the outcomes declared"
        }
        return expected.verdict == .forbidden ? "'\(outcome)': \(expected.meaning)" : nil
    }
}

extension Exploration {
    /// An outcome, the number of interleavings that ended in it, and its declaration.
    public struct Outcome: Hashable, Sendable {
        /// The outcome, as the closure passed to ``Scenario/outcome(_:)`` names it.
        public let outcome: String
        /// The number of interleavings that ended in it with all checks passed.
        public let count: Int
        /// `nil` if the scenario does not declare it.
        public let expected: Scenario.ExpectedOutcome?
    }

    /// All outcomes: first the declared ones, in the order of declaration, whether they were
    /// reached or not; then all others, in the order of their names.
    public var allOutcomes: [Outcome] {
        let declared = expectations.map {
            Outcome(outcome: $0.outcome, count: outcomes[$0.outcome] ?? 0, expected: $0)
        }
        let known = Set(expectations.map(\.outcome))
        let others = outcomes.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
        return declared + others.map { Outcome(outcome: $0.key, count: $0.value, expected: nil) }
    }

    /// The acceptable outcomes in which no interleaving ends: the code synchronizes more than
    /// necessary, or the scenario expects too much. Empty if not everything was explored, because
    /// then the answer is unknown.
    public var unreached: [Scenario.ExpectedOutcome] {
        guard inconclusive == nil, coverage == .all else { return [] }
        return expectations.filter { $0.verdict == .acceptable && outcomes[$0.outcome] == nil }
    }
}
