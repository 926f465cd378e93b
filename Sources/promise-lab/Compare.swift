import RaceLab
import SharedSuite

/// One race on two subjects: how the one fails, and what the other makes of it.
enum CompareCommand {
    private struct Side {
        let subject: Subject
        let report: Report
        let finding: Finding?
        let trace: Trace
    }

    private static let gap = "  │  "

    static func run(_ hazard: any Hazard, on subjects: [Subject]) throws {
        guard let race = hazard as? any Race else {
            throw Mistake("\(hazard.id) has one thread only: there are no interleavings to compare")
        }
        if let unavailable { throw Matrix.Unavailable(description: unavailable) }
        let sides = try subjects.map { try side(race, $0) }
        print(Terminal.painted("\(race.id) · \(race.name)", .bold))
        print(Terminal.wrapped(race.story) + "\n")
        print(sideBySide(sides) ?? oneBelowTheOther(sides))
        for side in sides { print(ShowCommand.replayLine(race, side.subject, side.trace)) }
    }

    private static func side(_ race: any Race, _ subject: Subject) throws -> Side {
        if case .cannotExpress(let why) = race.expectation(on: subject) {
            throw Mistake("\(subject) cannot express \(race.id): \(why)")
        }
        let report = race.report(on: subject)
        if let obstacle = report.obstacle { throw obstacle }
        let scenario = race.scenario(on: subject)
        if let finding = race.findings(of: report, on: subject).first,
            let trace = try report.counterexample(
                showing: finding, options: race.options, scenario)
        {
            return Side(subject: subject, report: report, finding: finding, trace: trace)
        }
        guard let schedule = report.surviving else {
            throw Mistake("no interleaving of \(race.id) on \(subject) comes to its end")
        }
        let trace = try replay(schedule, options: race.options, scenario)
        return Side(subject: subject, report: report, finding: nil, trace: trace)
    }

    // MARK: Two ways to lay it out

    /// `nil` if the two tables do not fit beside each other without being cut.
    private static func sideBySide(_ sides: [Side]) -> String? {
        let tables = sides.map {
            lines($0, Trace.tables([$0.trace], width: 10 * Terminal.width)[0])
        }
        let widths = tables.map { $0.map(\.count).max() ?? 0 }
        guard widths.reduce(0, +) + gap.count <= Terminal.width else { return nil }
        let height = tables.map(\.count).max() ?? 0
        return (0..<height).map { row in
            let cells = tables.indices.map { index in
                (tables[index].indices.contains(row) ? tables[index][row] : "")
                    .padded(to: index == 0 ? widths[0] : 0)
            }
            return cells.joined(separator: gap)
        }
        .joined(separator: "\n")
    }

    /// One under the other, the columns of the threads in the same places.
    private static func oneBelowTheOther(_ sides: [Side]) -> String {
        let tables = Trace.tables(sides.map(\.trace), width: Terminal.width)
        return zip(sides, tables).map { lines($0, $1).joined(separator: "\n") }
            .joined(separator: "\n\n") + "\n"
    }

    private static func lines(_ side: Side, _ table: String) -> [String] {
        let count = "\(side.report.failing) of \(side.report.explored) interleavings fail"
        let verdict = side.finding.map { "✗ \($0)" } ?? "✓ every check holds; this is one of them"
        return ["\(side.subject) · \(count)", ""]
            + table.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            + [""] + Terminal.wrapped(verdict).split(separator: "\n").map(String.init)
    }
}
