import RaceLab
import SharedSuite

extension Command {
    static let aplus = Command(
        name: "aplus", summary: "Promises/A+, clause by clause",
        help: """
            Tests the clauses of Promises/A+ 1.1 that have a meaning in typed Swift, on every stage.
            Each is tested in many cases, with the promise settled before its handlers are
            registered, at once, and later. Stage 3 runs its handlers on a queue. Then it lists the
            clauses that cannot be expressed, with the reason. The exit status is 0 if all results
            are as documented; 1 if a case that is documented to pass fails, or if one that is
            documented to fail passes or fails for another reason.
            """
    ) { _ in
        let stages = Subject.all(.stage)
        let rows = APlusClause.allCases.map { clause in
            (clause: clause, results: stages.map(clause.results(on:)))
        }
        let titles = stages.map { Span("\($0)", .title) }
        print(APlusCommand.line([Span("Promises/A+", .title)] + titles))
        for (clause, results) in rows {
            let name = Span("\(clause.rawValue)  \(clause.title)")
            print(APlusCommand.line([name] + results.map(APlusCommand.cell)))
        }
        print("\nWhat typed Swift cannot express:")
        for (clause, reason) in APlusClause.notExpressible {
            print(Terminal.hanging(clause.padded(to: 9), reason))
        }
        let differences = rows.flatMap { clause, results in
            zip(stages, results).flatMap { stage, results in
                results.compactMap(\.difference).map { "\(clause.rawValue) on \(stage): \($0)" }
            }
        }
        let counts = stages.indices.map { index in
            let results = rows.flatMap { $0.results[index] }
            return "\(stages[index]) passes \(results.count { $0.passed }) of \(results.count)"
        }
        let agreement =
            differences.isEmpty
            ? "Every case is as documented." : "\(differences.count) are not as documented."
        let legend =
            """
            k/n: k of the n cases pass; in each the promise is settled before, at once or later
            ✓ all pass   ✗ the others fail, for the reason named   – cannot be expressed on this stage
            """
        print("\n" + Terminal.fitted(legend) + "\n")
        print(Terminal.fitted("\(counts.joined(separator: ", ")).\n\(agreement)"))
        Terminal.end(with: differences)
    }
}

/// Promises/A+, clause by clause, on every stage.
private enum APlusCommand {
    /// The columns are narrower, and names are shortened, if the terminal is narrow.
    static func line(_ cells: [Span]) -> String {
        let (name, last, width) = (39, 17, Terminal.width)
        let isWide = name + (cells.count - 2) * 22 + last <= width
        let names = isWide ? name : width / 4
        let column = isWide ? 22 : (width - names - 8) / 2
        let columns = Array(repeating: column, count: cells.count - 2)
        return Terminal.row(cells, [names] + columns + [last])
    }

    static func cell(_ results: [APlusResult]) -> Span {
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
}
