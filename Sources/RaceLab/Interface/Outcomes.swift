extension Scenario {
    /// What a scenario says of one of the outcomes that it can end in, in the manner of jcstress.
    public struct ExpectedOutcome: Hashable, Codable, Sendable {
        /// What it means if an interleaving ends in an outcome.
        public enum Verdict: String, Codable, Sendable, CaseIterable {
            /// It is right. If no interleaving ends in it, the code keeps its threads apart more
            /// than it would have to: see ``Exploration/unreached``.
            case acceptable
            /// It is right, and worth a look when it appears. It need not appear.
            case interesting
            /// It is a failure.
            case forbidden
        }

        /// The outcome, as the closure passed to ``Scenario/outcome(_:)`` names it.
        public let outcome: String
        /// What it means if an interleaving ends in it.
        public let verdict: Verdict
        /// How it comes about, or why it must not, in a sentence.
        public let meaning: String
    }
}

extension Scenario {
    /// Declares one of the outcomes that ``outcome(_:)`` names.
    ///
    /// ```swift
    /// scenario.outcome { "\(counter.value)" }
    /// scenario.expect("2", .acceptable, "each increment counts")
    /// scenario.expect("1", .forbidden, "one overwrote the other")
    /// ```
    ///
    /// As soon as one outcome is declared, each that is not is a failure too, of the kind
    /// ``Exploration/Finding/Kind/forbiddenOutcome``.
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
    /// One outcome, and what is known of it.
    public struct Outcome: Hashable, Sendable {
        /// The outcome, as the closure passed to ``Scenario/outcome(_:)`` names it.
        public let outcome: String
        /// How many of the interleavings in which all checks held ended in it.
        public let count: Int
        /// `nil` if the scenario does not declare it.
        public let expected: Scenario.ExpectedOutcome?
    }

    /// All outcomes: first those that are declared, in the order in which they are, whether they
    /// were reached or not; then all others, in the order of their names.
    public var allOutcomes: [Outcome] {
        let declared = expectations.map {
            Outcome(outcome: $0.outcome, count: outcomes[$0.outcome] ?? 0, expected: $0)
        }
        let known = Set(expectations.map(\.outcome))
        let others = outcomes.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
        return declared + others.map { Outcome(outcome: $0.key, count: $0.value, expected: nil) }
    }

    /// Outcomes that would be acceptable and that no interleaving ends in: the code keeps its
    /// threads apart more than it would have to, or the scenario expects too much. Empty if not
    /// everything was explored, because then it is unknown.
    public var unreached: [Scenario.ExpectedOutcome] {
        guard inconclusive == nil, coverage == .all else { return [] }
        return expectations.filter { $0.verdict == .acceptable && outcomes[$0.outcome] == nil }
    }
}
