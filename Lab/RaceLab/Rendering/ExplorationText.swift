/// The report of an exploration, as text.
extension Exploration {
    /// The report for terminals: the verdict, how much was explored, the findings with their
    /// schedules, and the outcomes.
    ///
    /// - Parameter width: the maximum number of columns of a line. Sentences are wrapped.
    public func text(width: Int = 100) -> String {
        var blocks = [
            ([verdict] + (inconclusive == nil ? explanation : []))
                .flatMap { $0.wrapped(to: max(20, width)) }.joined(separator: "\n")
        ]
        let table = TextTable(width: max(20, width))
        for (title, findings) in [("found", findings), ("not counted", otherFindings)]
        where !findings.isEmpty {
            blocks.append(table.text(findingRows(title, findings)))
        }
        if !allOutcomes.isEmpty {
            let undeclared = expectations.isEmpty ? "" : "not declared"
            let rows = allOutcomes.map {
                let declared = $0.expected?.verdict.rawValue ?? undeclared
                let outcome = $0.outcome.isEmpty ? "(empty)" : $0.outcome
                return [outcome, String($0.count), declared, sentence($0)]
            }
            blocks.append(table.text([["outcome", "reached", "declared", ""]] + rows))
        }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    /// The scope of the verdict.
    private var explanation: [String] {
        let values =
            memory == .weak
            ? "loads also read the old values that their memory orderings allow; not explored are load "
                + "buffering (LB) and stores that come before older ones (2+2W, S)"
            : "memory orderings decide what is a data race; loads read the newest value only, as the "
                + "options demand"
        return [exploredText] + coverageSentences + samplingSentences + [failingKindsText]
            + (hasWeakOrderings ? [values] : [])
    }

    /// The kinds of finding that count as failures, in a sentence.
    public var failingKindsText: String {
        let all = Exploration.Finding.Kind.allCases.sorted()
        let judged = all.filter(options.failingKinds.contains),
            others = all.filter { !options.failingKinds.contains($0) }
        let names = { (kinds: [Exploration.Finding.Kind]) in
            kinds.map(\.rawValue).joined(separator: ", ")
        }
        if judged.isEmpty { return "counted as failures: nothing" }
        if others.isEmpty { return "counted as failures: findings of every kind" }
        return "counted as failures: "
            + (others.count < judged.count
                ? "findings of every kind but \(names(others))" : "\(names(judged)), nothing else")
    }

    private var exploredText: String {
        let leftOut =
            redundant == 0
            ? "" : "; \(redundant) more were begun and found to be like one of them"
        let again =
            limit == .time && result.startedOver
            ? "; that includes runs before it started over, when reference counts or memory orderings mattered"
            : ""
        let why = limit.map { "; \($0.rawValue)" + again } ?? ""
        let count = result.sample == nil ? " (\(explored)\(leftOut)\(why))" : why
        return "explored: \(coverage)\(count)"
    }

    private func findingRows(_ title: String, _ findings: [Exploration.Finding]) -> [[String]] {
        [[title, "in", "replay", ""]]
            + findings.map {
                // A finding before the first step has the empty schedule.
                let schedule = $0.schedule.text(threads: threads)
                let replay = schedule.isEmpty ? "\"\"" : schedule
                return [$0.kind.rawValue, String($0.count), replay, $0.reason]
            }
    }

    private func sentence(_ outcome: Outcome) -> String {
        guard let expected = outcome.expected else { return "" }
        let remark =
            unreached.contains(expected)
            ? " (never reached: are the threads kept apart more than need be?)" : ""
        return expected.meaning + remark
    }
}

/// A table whose second column contains numbers and whose last column contains sentences, which are
/// wrapped to the remaining width.
private struct TextTable {
    let width: Int

    func text(_ rows: [[String]]) -> String {
        let rows = rows.map { $0.map(\.onOneLine) }
        let last = rows[0].count - 1
        let needs = (0..<last).map { column in rows.map { $0[column].columns }.max() ?? 0 }
        let sentences = rows.map { $0[last].columns }.max() ?? 0
        let room = width - 2 * last - min(sentences, max(12, width / 3))
        let widths = share(room, among: needs)
        let left = width - 2 * last - widths.reduce(0, +)
        return rows.flatMap { row -> [String] in
            let cells = (0..<last).map { column in
                let cell = row[column].cut(to: widths[column])
                return column == 1
                    ? cell.leftPadded(to: widths[column]) : cell.padded(to: widths[column])
            }
            let pieces = row[last].wrapped(to: max(1, left))
            let margin = String(repeating: " ", count: width - left)
            return pieces.enumerated().map { index, piece in
                index == 0 ? (cells + [piece]).joined(separator: "  ") : margin + piece
            }
        }.map { $0.cut(to: width).trimmedAtEnd }.joined(separator: "\n")
    }
}
