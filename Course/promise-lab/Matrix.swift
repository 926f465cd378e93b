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
    struct Row {
        let hazard: any Hazard
        var verdicts: [Subject: Verdict]
    }

    let columns: [Column]
    let hazards: [any Hazard]

    /// Whether each column builds on the previous one. Then a cell is only a mark, and the end of
    /// the line shows what each column changes.
    private var showsChanges: Bool { subjects.contains { $0.kind == .step } }

    /// Whether there are too many columns for reasons in the cells. The end of the line has them.
    private var showsReasons: Bool { subjects.contains { $0.kind == .design } }

    struct Column {
        let subject: Subject
        /// With the gap to the next column, if the terminal is wide enough.
        let width: Int
        var title: String { subject.title }
    }

    static let stages = [
        Column(subject: .naive, width: 21), Column(subject: .handlers, width: 26),
        Column(subject: .threadSafe, width: 17),
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
        try checkExploring()
        let matrix = Matrix(columns: columns, hazards: hazards)
        let rows = matrix.run()
        print(matrix.text(rows), terminator: "")
        Terminal.end(with: rows.flatMap(matrix.differences))
    }

    // MARK: Running

    func run() -> [Row] {
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

    /// A row as text: a cell for each column, and what the end of the line says.
    private struct Line {
        var cells: [Span]
        /// For each cell, the width of what is never cut.
        var marks: [Int]
        var end = ""
    }

    /// - Parameter width: the maximum number of columns of a line. Reasons are shortened first,
    ///   then names; no column is left out.
    func text(_ rows: [Row], width: Int = Terminal.width) -> String {
        let lines = Dictionary(uniqueKeysWithValues: rows.map { ($0.hazard.id, line($0)) })
        let end = showsChanges ? "What each changes" : showsReasons ? "Why" : ""
        let titles = Line(
            cells: columns.map { Span($0.title, .title) }, marks: columns.map(\.title.count),
            end: end)
        let layout = layout([titles] + lines.values, width)
        var text = ""
        for (title, hazards) in Catalogue.groups {
            let group = hazards.filter { lines[$0.id] != nil }
            if group.isEmpty { continue }
            text += layout.text(Span(title, .title), titles) + "\n"
            for hazard in group {
                text += layout.text(Span("\(hazard.id)  \(hazard.name)"), lines[hazard.id]!) + "\n"
            }
            text += "\n"
        }
        let legend = legends.map { Terminal.fitted($0, to: width) }.joined(separator: "\n")
        return text + legend + "\n\n" + summary(rows, width) + "\n"
    }

    private func line(_ row: Row) -> Line {
        var line = Line(cells: [], marks: [])
        var words: [String] = []
        for column in columns {
            let expectation = row.hazard.expectation(on: column.subject)
            let verdict = row.verdicts[column.subject]!
            let (mark, counts, reason, role) = Matrix.cell(verdict, expectation)
            let isFailure = role == .failure && reason != "unknown"
            let hasCounts = !showsChanges && (isFailure || !showsReasons)
            line.marks.append(mark.count + (hasCounts ? counts.count : 0))
            if showsChanges {
                line.cells.append(Span(mark, role))
                words.append(reason.isEmpty ? mark : reason)
            } else if showsReasons {
                line.cells.append(Span(hasCounts ? mark + counts : mark, role))
                if isFailure, !words.contains(reason) { words.append(reason) }
            } else {
                let parts = [mark + counts, reason].filter { !$0.isEmpty }
                line.cells.append(Span(parts.joined(separator: " "), role))
            }
        }
        if showsChanges {
            words = columns.indices.dropFirst().filter { words[$0] != words[$0 - 1] }
                .map { "\(columns[$0].subject.word) \(words[$0])" }
        }
        line.end = words.joined(separator: ", ")
        return line
    }

    private static func cell(
        _ verdict: Verdict, _ expectation: Expectation
    ) -> (mark: String, counts: String, reason: String, Span.Role) {
        switch verdict {
        case .survives(let explored, _):
            ("✓", explored.map { " 0/\($0)" } ?? "", "", .success)
        case .fails(let reasons, let failing?, let explored?, _):
            ("✗", " \(failing)/\(explored)", word(reasons, expectation), .failure)
        case .fails(let reasons, _, _, _): ("✗", "", word(reasons, expectation), .failure)
        case .cannotExpress: ("–", "", "", .state)
        case .unknown: ("?", "", "unknown", .failure)
        }
    }

    /// The widths of the names, of the columns and of what comes after them, each with the gap that
    /// follows.
    private struct Layout {
        var name = 37
        var widths: [Int]

        func text(_ name: Span, _ line: Line) -> String {
            let spans = [name] + line.cells + [Span(line.end, name.role)]
            let columns = zip(spans, [self.name] + widths).flatMap { span, width in
                [span].cut(to: width - 1).padded(to: width)
            }
            return Terminal.text(Report(lines: [columns.trimmedAtEnd]))
        }

        /// Narrows the widest columns until the line fits, but none below `least`.
        mutating func shrink(to least: [Int], for width: Int) {
            while excess(width) > 0,
                let widest = widths.indices.filter({ widths[$0] > least[$0] })
                    .max(by: { widths[$0] < widths[$1] })
            {
                widths[widest] -= 1
            }
        }

        /// Narrows the names until the line fits, but not below `least`.
        mutating func shrinkNames(to least: Int, for width: Int) {
            name -= max(0, min(name - least, excess(width)))
        }

        /// The last column needs no gap.
        func excess(_ width: Int) -> Int { widths.reduce(name - 1, +) - width }
    }

    private func layout(_ lines: [Line], _ width: Int) -> Layout {
        let longest = lines.map(\.end.count).max() ?? 0
        let end = longest == 0 ? 0 : longest + 1
        let isShort = showsChanges || showsReasons
        let marks = columns.indices.map { index in lines.map { $0.marks[index] }.max()! }
        let wanted = columns.indices.map { index in
            isShort && !showsChanges
                ? max(columns[index].width, marks[index] + 1) : columns[index].width
        }
        var layout = Layout(widths: wanted + [end])
        if showsReasons, layout.excess(width) > 0 { layout.widths[columns.count] = 0 }
        let least = isShort ? wanted : marks.map { $0 + 2 }
        let reason = isShort ? 0 : 6
        layout.shrink(to: least.map { $0 + reason } + [min(end, 20)], for: width)
        layout.shrinkNames(to: 23, for: width)
        layout.shrink(to: least + [min(end, 12)], for: width)
        layout.shrinkNames(to: 12, for: width)
        // Counts of the designs that are longer than the documented ones end in an ellipsis.
        layout.shrink(to: (isShort ? columns.map(\.width) : least) + [0], for: width)
        return layout
    }

    /// The documented reason if it was found, otherwise the first one found. An ellipsis follows if
    /// there are others.
    static func word(_ found: [Reason], _ expectation: Expectation) -> String {
        let more = found.count > 1 ? " …" : ""
        if case .fails(let first, _) = expectation, found.contains(first) {
            return first.rawValue + more
        }
        return found[0].rawValue + more
    }

    private static let legend =
        "✓ survives   ✗ fails   – cannot be expressed   … and for other reasons"

    private static let legendOfCounts =
        """
        k/n: k of the n interleavings explored fail; those that differ only in the order of steps
        that do not touch the same thing are explored once
        """

    private static let legendOfSteps =
        "A one lock   B call outside   C a third phase   D a queue of callbacks   E dispatchers"

    private static let legendOfChanges =
        "At the end of a line: the columns in which the verdict changes, and what it is from there on"

    private var legends: [String] {
        [Matrix.legend]
            + (showsChanges
                ? [Matrix.legendOfSteps, Matrix.legendOfChanges] : [Matrix.legendOfCounts])
    }

    private func summary(_ rows: [Row], _ width: Int) -> String {
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
        return Terminal.wrapped("\(counts.joined(separator: ", ")).", to: width) + "\n"
            + Terminal.wrapped(
                "\(Explored.count.grouped) interleavings explored; \(agreement).", to: width) + next
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
}
