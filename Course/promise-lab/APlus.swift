import Foundation
import RaceLab
import SharedSuite

extension Command {
    static let aplus = Command(
        "aplus", "Promises/A+, clause by clause",
        help: """
            Tests the clauses of Promises/A+ 1.1 that have a meaning in typed Swift, on every stage.
            Each is tested in many cases, with the promise settled before its handlers are
            registered, at once, and later. Stage 3 runs its handlers on a queue. Then it lists the
            clauses that cannot be expressed, with the reason. The exit status is 0 if all results
            are as documented; 1 if a case that is documented to pass fails, or if one that is
            documented to fail passes or fails for another reason.
            """
    ) { _ in APlusCommand.run() }
}

/// Promises/A+, clause by clause, on every stage.
enum APlusCommand {
    private struct Row {
        let clause: APlusClause
        let results: [Subject: [APlusResult]]
    }

    private static let stages = Subject.all(.stage)
    private static let nameWidth = 39
    private static let columnWidth = 22

    static func run() {
        let rows = APlusClause.allCases.map { clause in
            Row(
                clause: clause,
                results: Dictionary(
                    uniqueKeysWithValues: stages.map { ($0, clause.results(on: $0)) }))
        }
        let differences = rows.flatMap(differences)
        print(line(Span("Promises/A+", .title), stages.map { Span("\($0)", .title) }))
        for row in rows { print(line(row)) }
        print(
            "\n\(notExpressible)\n\n\(Terminal.fitted(legend))\n\n"
                + Terminal.fitted(summary(rows, differences.count)))
        Terminal.end(with: differences)
    }

    // MARK: Writing

    private static func line(_ row: Row) -> String {
        line(
            Span("\(row.clause.rawValue)  \(row.clause.title)"),
            stages.map { cell(row.results[$0]!) })
    }

    /// The names are shortened if the terminal is narrow.
    private static func line(_ name: Span, _ cells: [Span]) -> String {
        let wanted = nameWidth + (cells.count - 1) * columnWidth + 17
        let (names, columns) =
            wanted <= Terminal.width
            ? (nameWidth, columnWidth)
            : (Terminal.width / 4, (Terminal.width - Terminal.width / 4 - 8) / 2)
        let widths = cells.indices.map { $0 < cells.count - 1 ? columns : 17 }
        let spans = zip([name] + cells, [names] + widths).flatMap { span, width in
            [span].cut(to: width - 1).padded(to: width)
        }
        return Terminal.text(Report(lines: [spans.trimmedAtEnd]))
    }

    private static func cell(_ results: [APlusResult]) -> Span {
        guard !results.isEmpty else { return Span("–", .state) }
        let passed = results.count { $0.passed }
        let count = "\(passed)/\(results.count)"
        guard passed < results.count else { return Span("✓ \(count)", .success) }
        for result in results {
            if case .fails(let reasons, _, _, _) = result.verdict {
                return Span("✗ \(count) \(reasons[0].rawValue)", .failure)
            }
        }
        return Span("? \(count) unknown", .failure)
    }

    private static var notExpressible: String {
        let rows = APlusClause.notExpressible.map { clause, reason in
            Terminal.hanging(clause.padded(to: 9), reason)
        }
        return "What typed Swift cannot express:\n" + rows.joined(separator: "\n")
    }

    private static let legend =
        """
        k/n: k of the n cases pass; in each the promise is settled before, at once or later
        ✓ all pass   ✗ the others fail, for the reason named   – cannot be expressed on this stage
        """

    private static func summary(_ rows: [Row], _ differing: Int) -> String {
        let counts = stages.map { stage in
            let results = rows.flatMap { $0.results[stage]! }
            return "\(stage) passes \(results.count { $0.passed }) of \(results.count)"
        }
        let agreement =
            differing == 0 ? "Every case is as documented." : "\(differing) are not as documented."
        return "\(counts.joined(separator: ", ")).\n\(agreement)"
    }

    private static func differences(_ row: Row) -> [String] {
        stages.flatMap { stage in
            row.results[stage]!.compactMap(\.difference).map {
                "promise-lab: \(row.clause.rawValue) on \(stage): \($0)"
            }
        }
    }
}
