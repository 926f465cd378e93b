import Foundation
import RaceLab
import SharedSuite
import Synchronization

extension Command {
    private static let steps = Argument.flag(
        "--steps",
        "the columns are the steps from Stage 2 to Stage 3 (Sources/Steps), and the end of each "
            + "line shows where the verdict changes")
    private static let designs = Argument.flag(
        "--designs",
        "the columns are the designs of Bolts, PromiseKit and Google Promises in miniature, a "
            + "promise as an actor and its repair (Sources/FieldGuide), and Stage 3",
        excludes: [steps.name])

    static let matrix = Command(
        "matrix", "every hazard on every stage, step or design",
        [steps, designs, .only],
        help: """
            Runs every hazard of the catalogue on every stage and prints the verdicts:

              ✓          survives (for a race: 0/n, none of n interleavings fails)
              ✗ reason   fails (for a race: k/n, k of n interleavings fail)
              –          cannot be expressed on this stage

            Each verdict is compared with the documented one. The exit status is 0 if all verdicts
            are as documented, including documented failures, and 1 otherwise.
            """
    ) { arguments in
        let columns =
            arguments.has(designs)
            ? Matrix.designs : arguments.has(steps) ? Matrix.steps : Matrix.stages
        try Matrix.command(columns, arguments.hazards())
    }
}

/// Every hazard on every stage, on every step, or on every design.
struct Matrix {
    private struct Row {
        let hazard: any Hazard
        let verdicts: [Subject: Verdict]
    }

    private static let nameWidth = 32
    private let columns: [Column]
    private let hazards: [any Hazard]

    /// Whether each column builds on the previous one. Then a cell is only a mark, and the end of
    /// the line shows what each column changes.
    private var showsChanges: Bool { subjects.contains { $0.kind == .step } }

    /// Whether there are too many columns for reasons in the cells. The end of the line has them.
    private var showsReasons: Bool { subjects.contains { $0.kind == .design } }

    struct Column {
        let subject: Subject
        let width: Int
        var title: String { subject.title }
    }

    static let stages = [
        Column(subject: .naive, width: 21), Column(subject: .handlers, width: 26),
        Column(subject: .threadSafe, width: 16),
    ]

    /// The designs, and Stage 3 for comparison.
    static let designs = [
        Column(subject: .bolts, width: 6), Column(subject: .promiseKit, width: 11),
        Column(subject: .google, width: 7), Column(subject: .actor, width: 7),
        Column(subject: .repairedActor, width: 6), Column(subject: .threadSafe, width: 8),
    ]

    /// The steps from Stage 2 to Stage 3.
    static let steps =
        [Column(subject: .handlers, width: 8)]
        + Subject.all(.step).map { Column(subject: $0, width: 3) }
        + [Column(subject: .threadSafe, width: 9)]

    private var subjects: [Subject] { columns.map(\.subject) }

    static func command(_ columns: [Column], _ hazards: [any Hazard] = Catalogue.all) throws {
        if let unavailable = Exploration.unavailable { throw Unavailable(description: unavailable) }
        let matrix = Matrix(columns: columns, hazards: hazards)
        let rows = matrix.run()
        print(matrix.text(rows), terminator: "")
        let differences = rows.flatMap(matrix.differences)
        guard differences.isEmpty else {
            // Standard output first, or a pipe would show the two in any order.
            fflush(nil)
            for difference in differences { Terminal.complain(difference) }
            exit(1)
        }
    }

    struct Unavailable: Error, CustomStringConvertible {
        let description: String
    }

    // MARK: Running

    private func run() -> [Row] {
        let progress = Progress()
        defer { progress.end() }
        let verdicts = Matrix.verdicts(of: hazards, on: subjects, progress)
        return hazards.map { Row(hazard: $0, verdicts: verdicts[$0.id]!) }
    }

    /// The verdicts of hazards on subjects, by the ids of the hazards.
    static func verdicts(
        of hazards: [any Hazard], on subjects: [Subject], _ progress: Progress
    ) -> [String: [Subject: Verdict]] {
        var verdicts: [String: [Subject: Verdict]] = [:]
        for hazard in hazards where !(hazard is any LongChainHazard) {
            for subject in subjects {
                progress.now("\(hazard.id) \(hazard.name), \(subject)")
                verdicts[hazard.id, default: [:]][subject] = hazard.run(on: subject)
            }
        }
        // Each long chain runs in its own process, so several run in parallel. They come last,
        // because the lab is faster when it has a processor to itself.
        let chains = hazards.filter { $0 is any LongChainHazard }
        let names = chains.map(\.id).joined(separator: " and ")
        if !chains.isEmpty { progress.now("\(names): chains of a million links") }
        let runs = chains.flatMap { hazard in subjects.map { (hazard: hazard, subject: $0) } }
        let found = Mutex(verdicts)
        DispatchQueue.concurrentPerform(iterations: runs.count) { index in
            let (hazard, subject) = runs[index]
            let verdict = hazard.run(on: subject)
            found.withLock { $0[hazard.id, default: [:]][subject] = verdict }
        }
        return found.withLock { $0 }
    }

    // MARK: Writing

    private func text(_ rows: [Row]) -> String {
        var text = ""
        for (title, hazards) in Catalogue.groups {
            let group = rows.filter { row in hazards.contains { $0.id == row.hazard.id } }
            if group.isEmpty { continue }
            text += header(title) + "\n"
            for row in group { text += line(row) + "\n" }
            text += "\n"
        }
        let legend = showsChanges ? Matrix.legendOfChanges : Matrix.legend
        return text + legend + "\n\n" + summary(rows) + "\n"
    }

    private func header(_ title: String) -> String {
        let titles =
            columns.map { $0.title.padded(to: $0.width) }.joined()
            + (showsChanges ? "What each changes" : showsReasons ? "Why" : "")
        return Terminal.painted(
            Matrix.trimmed("\(title)".padded(to: Matrix.nameWidth + 5) + titles), .bold)
    }

    private func line(_ row: Row) -> String {
        showsChanges ? lineOfChanges(row) : showsReasons ? lineOfReasons(row) : lineOfCells(row)
    }

    private func lineOfChanges(_ row: Row) -> String {
        var text = row.hazard.id.padded(to: 5) + row.hazard.name.padded(to: Matrix.nameWidth)
        var changes: [String] = []
        var before: String?
        for column in columns {
            let expectation = row.hazard.expectation(on: column.subject)
            let verdict = row.verdicts[column.subject]!
            let (cell, colour) = Matrix.cell(verdict, expectation)
            let mark = String(cell.prefix(1))
            let padding = String(repeating: " ", count: column.width - 1)
            text += Terminal.painted(mark, colour) + padding
            let now = Matrix.words(verdict, expectation)
            if let before, before != now { changes.append("\(column.subject.word) \(now)") }
            before = now
        }
        return Matrix.trimmed(text + changes.joined(separator: ", "))
    }

    private func lineOfReasons(_ row: Row) -> String {
        var text = row.hazard.id.padded(to: 5) + row.hazard.name.padded(to: Matrix.nameWidth)
        var reasons: [String] = []
        for column in columns {
            let expectation = row.hazard.expectation(on: column.subject)
            let verdict = row.verdicts[column.subject]!
            let (cell, colour) = Matrix.cell(verdict, expectation)
            let failing = if case .fails(_, .some, _, _) = verdict { 2 } else { 1 }
            let mark = cell.split(separator: " ").prefix(failing).joined(separator: " ")
            let gap = String(repeating: " ", count: max(1, column.width - mark.count))
            text += Terminal.painted(mark, colour) + gap
            if case .fails(let found, _, _, _) = verdict {
                let word = Matrix.word(found, expectation)
                if !reasons.contains(word) { reasons.append(word) }
            }
        }
        return Matrix.trimmed(text + reasons.joined(separator: ", "))
    }

    /// A verdict without its counts.
    private static func words(_ verdict: Verdict, _ expectation: Expectation) -> String {
        switch verdict {
        case .survives: "✓"
        case .fails(let reasons, _, _, _): Matrix.word(reasons, expectation)
        case .cannotExpress: "–"
        case .unknown: "unknown"
        }
    }

    private func lineOfCells(_ row: Row) -> String {
        var text = row.hazard.id.padded(to: 5) + row.hazard.name.padded(to: Matrix.nameWidth)
        var width = text.count
        for (index, column) in columns.enumerated() {
            let expectation = row.hazard.expectation(on: column.subject)
            var (cell, colour) = Matrix.cell(row.verdicts[column.subject]!, expectation)
            let isLast = index == columns.count - 1
            if isLast { cell = Matrix.shortened(cell, to: Terminal.width - width) }
            width += max(column.width, cell.count + 1)
            let room = column.width - cell.count
            let gap = isLast ? "" : String(repeating: " ", count: max(1, room))
            text += Terminal.painted(cell, colour) + gap
        }
        return text
    }

    /// The documented verdicts fit into a cell; those of changed code may be longer.
    private static func shortened(_ cell: String, to room: Int) -> String {
        cell.count <= room ? cell : cell.prefix(max(1, room - 1)) + "…"
    }

    /// The documented reason if it was found, otherwise the first one found. An ellipsis stands for
    /// further reasons.
    static func word(_ found: [Reason], _ expectation: Expectation) -> String {
        let more = found.count > 1 ? " …" : ""
        if case .fails(let first, _) = expectation, found.contains(first) {
            return first.rawValue + more
        }
        return found[0].rawValue + more
    }

    private static func cell(
        _ verdict: Verdict, _ expectation: Expectation
    ) -> (String, Terminal.Colour) {
        switch verdict {
        case .survives(let explored, _):
            return (explored.map { "✓ 0/\($0)" } ?? "✓", .green)
        case .fails(let reasons, let failing?, let explored?, _):
            return ("✗ \(failing)/\(explored) \(word(reasons, expectation))", .red)
        case .fails(let reasons, _, _, _):
            return ("✗ \(word(reasons, expectation))", .red)
        case .cannotExpress:
            return ("–", .grey)
        case .unknown:
            return ("? unknown", .red)
        }
    }

    private static let legend =
        """
        ✓ survives   ✗ fails   – cannot be expressed   … and for other reasons
        k/n: k of the n interleavings explored fail; those that differ only in the order of steps
        that do not touch the same thing are explored once
        """

    private static let legendOfChanges =
        """
        ✓ survives   ✗ fails   – cannot be expressed   … and for other reasons
        A one lock   B call outside   C a third phase   D a queue of callbacks   E dispatchers
        At the end of a line: the columns in which the verdict changes, and what it is from there on
        """

    private func summary(_ rows: [Row]) -> String {
        let counts = columns.map { column in
            let verdicts = rows.map { $0.verdicts[column.subject]! }
            let expressed = verdicts.count { if case .cannotExpress = $0 { false } else { true } }
            let survived = verdicts.count { if case .survives = $0 { true } else { false } }
            return "\(column.subject) survives \(survived) of \(expressed)"
        }
        let differing = rows.reduce(0) { $0 + differences($1).count }
        let agreement =
            differing == 0
            ? "every verdict is as documented"
            : differing == 1
                ? "1 verdict is not as documented"
                : "\(differing) verdicts are not as documented"
        let next = differing == 0 ? "\nNext: swift run promise-lab \(proposal)" : ""
        return Terminal.wrapped("\(counts.joined(separator: ", ")).") + "\n"
            + "\(Explored.count.grouped) interleavings explored; \(agreement).\(next)"
    }

    private var proposal: String {
        if subjects.contains(.promiseKit) {
            return "compare PromiseKitStyle Stage3ThreadSafe R06"
        }
        return showsChanges ? "show R09 --step A" : "show R01 --stage 1"
    }

    private func differences(_ row: Row) -> [String] {
        subjects.compactMap { subject in
            row.verdicts[subject]!.difference(from: row.hazard.expectation(on: subject)).map {
                "promise-lab: \(row.hazard.id) on \(subject): \($0)"
            }
        }
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
