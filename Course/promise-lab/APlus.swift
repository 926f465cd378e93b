import Foundation
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
    private static let nameWidth = 32
    private static let columnWidth = 22

    static func run() {
        let rows = APlusClause.allCases.map { clause in
            Row(
                clause: clause,
                results: Dictionary(
                    uniqueKeysWithValues: stages.map { ($0, clause.results(on: $0)) }))
        }
        let differences = rows.flatMap(differences)
        print(Terminal.painted(line("Promises/A+", stages.map { "\($0)" }), .bold))
        for row in rows { print(line(row)) }
        print("\n\(notExpressible)\n\n\(legend)\n\n\(summary(rows, differences.count))")
        guard differences.isEmpty else {
            // Standard output first, or a pipe would show the two in any order.
            fflush(nil)
            for difference in differences { Terminal.complain(difference) }
            exit(1)
        }
    }

    // MARK: Writing

    private static func line(_ row: Row) -> String {
        let cells = stages.map { cell(row.results[$0]!) }
        var text = row.clause.rawValue.padded(to: 7) + row.clause.title.padded(to: nameWidth)
        for (cell, colour) in cells.dropLast() {
            text += Terminal.painted(cell.padded(to: columnWidth), colour)
        }
        return text + Terminal.painted(cells.last!.0, cells.last!.1)
    }

    private static func line(_ title: String, _ cells: [String]) -> String {
        title.padded(to: nameWidth + 7)
            + cells.dropLast().map { $0.padded(to: columnWidth) }.joined() + cells.last!
    }

    private static func cell(_ results: [APlusResult]) -> (String, Terminal.Colour) {
        guard !results.isEmpty else { return ("–", .grey) }
        let passed = results.count { $0.passed }
        let count = "\(passed)/\(results.count)"
        guard passed < results.count else { return ("✓ \(count)", .green) }
        for result in results {
            if case .fails(let reasons, _, _, _) = result.verdict {
                return ("✗ \(count) \(reasons[0].rawValue)", .red)
            }
        }
        return ("? \(count) unknown", .red)
    }

    private static var notExpressible: String {
        let rows = APlusClause.notExpressible.map { clause, reason in
            let text = Terminal.wrapped(reason, indentation: "         ")
            return clause.padded(to: 9) + text.dropFirst(9)
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
