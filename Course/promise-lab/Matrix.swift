import Foundation
import RaceLab
import SharedSuite
import Synchronization

extension Command {
    private static let steps = Argument(
        name: "--steps",
        about: "the columns are the steps from Stage 2 to Stage 3 (Sources/Steps), and the end of "
            + "each line shows where the verdict changes")
    private static let designs = Argument(
        name: "--designs",
        about: "the columns are the designs of Bolts, PromiseKit and Google Promises in miniature, "
            + "a promise as an actor and its repair (Sources/FieldGuide), and Stage 3",
        excludes: [steps.name])

    static let matrix = Command(
        name: "matrix", summary: "every hazard on every stage, step or design",
        arguments: [steps, designs, .only],
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
        let hazards = try arguments.hazards()
        try checkExploring()
        let verdicts = Matrix.verdicts(of: hazards, on: columns.map(\.subject))
        let matrix = Matrix(columns: columns)
        let rows = hazards.map { Matrix.Row(hazard: $0, verdicts: verdicts[$0.id]!) }
        print(matrix.text(rows), terminator: "")
        Terminal.end(with: rows.flatMap(matrix.differences))
    }
}

/// Every hazard on every stage, on every step, or on every design.
struct Matrix {
    struct Row {
        let hazard: any Hazard
        var verdicts: [Subject: Verdict]
    }

    /// The width is with the gap to the next column, if the terminal is wide enough.
    typealias Column = (subject: Subject, width: Int)

    let columns: [Column]

    private var subjects: [Subject] { columns.map(\.subject) }

    /// Whether each column builds on the previous one. Then a cell is only a mark, and the end of
    /// the line shows what each column changes.
    private var showsChanges: Bool { subjects.contains { $0.kind == .step } }

    /// Whether there are too many columns for reasons in the cells. The end of the line has them.
    private var showsReasons: Bool { subjects.contains { $0.kind == .design } }

    static let stages: [Column] = [(.naive, 21), (.handlers, 26), (.threadSafe, 17)]

    /// The designs, and Stage 3 for comparison.
    static let designs: [Column] = [
        (.bolts, 6), (.promiseKit, 11), (.google, 7), (.actor, 7), (.repairedActor, 6),
        (.threadSafe, 8),
    ]

    /// The steps from Stage 2 to Stage 3.
    static let steps: [Column] =
        [(.handlers, 8)] + Subject.all(.step).map { ($0, 3) } + [(.threadSafe, 9)]

    /// The verdicts of hazards on subjects, by the ids of the hazards.
    static func verdicts(
        of hazards: [any Hazard], on subjects: [Subject]
    ) -> [String: [Subject: Verdict]] {
        let progress = Progress()
        defer { progress.end() }
        let verdicts = Mutex<[String: [Subject: Verdict]]>([:])
        @Sendable func run(_ hazard: any Hazard, on subject: Subject) {
            let verdict = hazard.run(on: subject)
            verdicts.withLock { $0[hazard.id, default: [:]][subject] = verdict }
        }
        for hazard in hazards where !(hazard is any LongChainHazard) {
            for subject in subjects {
                progress.now("\(hazard.id) \(hazard.name), \(subject)")
                run(hazard, on: subject)
            }
        }
        // Each long chain runs in its own process, so several run in parallel. They come last,
        // because the lab is faster when it has a processor to itself.
        let chains = hazards.filter { $0 is any LongChainHazard }
        let names = chains.map(\.id).joined(separator: " and ")
        if !chains.isEmpty { progress.now("\(names): chains of a million links") }
        let runs = chains.flatMap { hazard in subjects.map { (hazard: hazard, subject: $0) } }
        let links = LongChain.links
        DispatchQueue.concurrentPerform(iterations: runs.count) { index in
            LongChain.$links.withValue(links) {
                run(runs[index].hazard, on: runs[index].subject)
            }
        }
        return verdicts.withLock { $0 }
    }

    // MARK: Writing

    /// What a cell says about a verdict.
    struct Cell {
        let mark: String
        /// For a race, how many of its interleavings fail.
        var counts = ""
        var reason = ""
        let role: Span.Role

        var text: String { [counts, reason].filter { !$0.isEmpty }.joined(separator: " ") }

        init(_ verdict: Verdict, _ expectation: Expectation) {
            switch verdict {
            case .survives(let explored, _):
                (mark, role) = ("✓", .success)
                if let explored { counts = "0/\(explored)" }
            case .fails(let found, let failing, let explored, _):
                (mark, role) = ("✗", .failure)
                if let failing, let explored { counts = "\(failing)/\(explored)" }
                // The documented reason if it was found, otherwise the first one found.
                reason = found[0].rawValue
                if case .fails(let documented, _) = expectation, found.contains(documented) {
                    reason = documented.rawValue
                }
                if found.count > 1 { reason += " +" }
            case .cannotExpress: (mark, role) = ("–", .state)
            case .unknown: (mark, reason, role) = ("?", "unknown", .failure)
            }
        }
    }

    /// A row as text: a cell for each column, for each cell the width of what is never cut, and what
    /// the end of the line says.
    private typealias Line = (cells: [Span], marks: [Int], end: String)

    /// - Parameter width: the maximum number of columns of a line. Reasons are shortened first,
    ///   then names; no column is left out.
    func text(_ rows: [Row], width: Int = Terminal.width) -> String {
        let lines = Dictionary(uniqueKeysWithValues: rows.map { ($0.hazard.id, line($0)) })
        let titles: Line = (
            subjects.map { Span($0.title, .title) }, subjects.map(\.title.count),
            showsChanges ? "What each changes" : showsReasons ? "Why" : ""
        )
        let widths = widths([titles] + lines.values, width)
        let written = { (name: Span, line: Line) in
            Terminal.row([name] + line.cells + [Span(line.end, name.role)], widths) + "\n"
        }
        var text = ""
        for (title, hazards) in Catalogue.groups {
            let group = hazards.filter { lines[$0.id] != nil }
            if group.isEmpty { continue }
            text += written(Span(title, .title), titles)
            for hazard in group {
                text += written(Span("\(hazard.id)  \(hazard.name)"), lines[hazard.id]!)
            }
            text += "\n"
        }
        for legend in legends { text += Terminal.fitted(legend, to: width) + "\n" }
        return text + "\n" + summary(rows, width) + "\n"
    }

    private func line(_ row: Row) -> Line {
        let cells = subjects.map {
            Cell(row.verdicts[$0]!, row.hazard.expectation(on: $0))
        }
        let marks = cells.map { cell in
            let hasCounts = !showsChanges && (cell.mark == "✗" || !showsReasons)
            return hasCounts && !cell.counts.isEmpty ? "\(cell.mark) \(cell.counts)" : cell.mark
        }
        let hasReasons = !showsChanges && !showsReasons
        let spans = zip(cells, marks).map { cell, mark in
            Span(hasReasons && !cell.reason.isEmpty ? "\(mark) \(cell.reason)" : mark, cell.role)
        }
        var end: [String] = []
        if showsChanges {
            let words = cells.map { $0.reason.isEmpty ? $0.mark : $0.reason }
            end = cells.indices.dropFirst().filter { words[$0] != words[$0 - 1] }
                .map { "\(subjects[$0].word) \(words[$0])" }
        } else if showsReasons {
            for cell in cells where cell.mark == "✗" && !end.contains(cell.reason) {
                end.append(cell.reason)
            }
        }
        return (spans, marks.map(\.count), end.joined(separator: ", "))
    }

    /// The widths of the names, of the columns and of what comes after them, each with the gap that
    /// follows.
    private func widths(_ lines: [Line], _ width: Int) -> [Int] {
        let longest = lines.map(\.end.count).max()!
        let end = longest == 0 ? 0 : longest + 1
        let marks = columns.indices.map { index in lines.map { $0.marks[index] }.max()! }
        var widths = [37] + zip(columns, marks).map { max($0.width, $1 + 1) } + [end]
        // The last column needs no gap.
        func isTooWide() -> Bool { widths.reduce(-1, +) > width }
        /// Narrows the widest columns until the line fits, but none below `least`.
        func shrink(to least: [Int]) {
            while isTooWide(),
                let widest = widths.indices.filter({ widths[$0] > least[$0] })
                    .max(by: { widths[$0] < widths[$1] })
            {
                widths[widest] -= 1
            }
        }
        if showsReasons, isTooWide() { widths[columns.count + 1] = 0 }
        let least = marks.map { $0 + 2 }
        shrink(to: [37] + least.map { $0 + 6 } + [min(end, 20)])
        shrink(to: [23] + widths.dropFirst())
        shrink(to: [23] + least + [min(end, 12)])
        shrink(to: [12] + widths.dropFirst())
        // Counts of the designs that are longer than the documented ones end in an ellipsis.
        shrink(to: [12] + zip(columns, least).map { min($0.width, $1) } + [0])
        return widths
    }

    private var legends: [String] {
        let marks = "✓ survives   ✗ fails   – cannot be expressed   + and for other reasons"
        let counts =
            "k/n: k of the n interleavings explored fail; those that differ only in the order of steps"
            + "\nthat do not touch the same thing are explored once"
        let steps =
            "A one lock   B call outside   C a third phase   D a queue of callbacks   E dispatchers"
        let changes =
            "At the end of a line: the columns in which the verdict changes, and what it is from there "
            + "on"
        return showsChanges ? [marks, steps, changes] : [marks, counts]
    }

    private func summary(_ rows: [Row], _ width: Int) -> String {
        let counts = subjects.map { subject in
            let marks = rows.map {
                Cell($0.verdicts[subject]!, $0.hazard.expectation(on: subject)).mark
            }
            let expressed = marks.count { $0 != "–" }
            return "\(subject) survives \(marks.count { $0 == "✓" }) of \(expressed)"
        }
        let differing = rows.flatMap(differences).count
        let agreement =
            differing == 0
            ? "every verdict is as documented"
            : "\(differing) \(differing == 1 ? "verdict is" : "verdicts are") not as documented"
        let proposal =
            showsReasons
            ? "compare PromiseKitStyle Stage3ThreadSafe R06"
            : showsChanges ? "show R09 --step A" : "show R01 --stage 1"
        let next = differing == 0 ? "\nNext: swift run promise-lab \(proposal)" : ""
        return Terminal.wrapped("\(counts.joined(separator: ", ")).", to: width) + "\n"
            + Terminal.wrapped(
                "\(Explored.count.grouped) interleavings explored; \(agreement).", to: width) + next
    }

    fileprivate func differences(_ row: Row) -> [String] {
        subjects.compactMap { subject in
            row.verdicts[subject]!.difference(from: row.hazard.expectation(on: subject)).map {
                "\(row.hazard.id) on \(subject): \($0)"
            }
        }
    }
}
