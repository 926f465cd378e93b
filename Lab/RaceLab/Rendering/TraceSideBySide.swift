extension Exploration {
    /// Two interleavings beside each other, for instance those of one scenario on two classes.
    ///
    /// Half of the width is too narrow for a column per thread. Instead, a step begins with the
    /// letter of its thread, as in a schedule, and each letter has its own position. A bar in this
    /// position means that the thread holds a lock while another thread runs. The line number and
    /// the line follow; then, after `→`, the state if it has changed, and after `←`, the mark.
    /// State and mark are at the end of the row if there is room, and below it otherwise.
    package struct SideBySide {
        /// One of the two interleavings, with a heading and a verdict.
        package struct Half {
            private let heading: [String]
            private let trace: Trace
            private let verdict: Report.Span

            /// - Parameters:
            ///   - heading: lines above the interleaving.
            ///   - verdict: a sentence below it.
            package init(
                heading: [String], _ trace: Trace, verdict: String,
                _ role: Report.Span.Role = .plain
            ) {
                self.heading = heading
                self.trace = trace
                self.verdict = Report.Span(verdict, role)
            }

            /// The parts of the half. Each part begins on the same line in both halves.
            fileprivate func sections(width: Int) -> [[[Report.Span]]] {
                let table = NarrowTable(trace, width: width)
                let titles = heading.map { [Report.Span($0)] } + [table.legend]
                let legend = trace.legend.flatMap { [Report.Span($0)].wrapped(to: width) }
                return [
                    titles.flatMap { $0.wrapped(to: width) }, table.lines + legend,
                    [verdict].wrapped(to: width),
                ]
            }
        }

        /// Heavier than the bar that marks a lock.
        private static let divider = " ┃ "

        private let left: Half
        private let right: Half

        package init(_ left: Half, _ right: Half) {
            self.left = left
            self.right = right
        }

        /// - Parameter width: the maximum number of columns of a line. An ellipsis marks text that
        ///   is cut.
        package func report(width: Int) -> Report {
            let room = max(8, (width - SideBySide.divider.columns) / 2)
            let lines = zip(left.sections(width: room), right.sections(width: room))
                .map { SideBySide.joined($0, $1, room) }
                .joined(separator: [[Report.Span].blank(room) + [Report.Span(SideBySide.divider)]])
            return Report(lines: lines.map { $0.cut(to: width).trimmedAtEnd })
        }

        private static func joined(
            _ left: [[Report.Span]], _ right: [[Report.Span]], _ room: Int
        ) -> [[Report.Span]] {
            (0..<max(left.count, right.count)).map { index in
                let one = left.indices.contains(index) ? left[index] : []
                let other = right.indices.contains(index) ? right[index] : []
                return one.padded(to: room) + [Report.Span(divider)] + other
            }
        }
    }
}

/// A table without a column for each thread: for half of the width, or for many threads.
struct NarrowTable {
    private let trace: Exploration.Trace
    private let rows: [TraceRow]
    private let letters: [Character]
    private let width: Int
    private let numberWidth: Int
    private let barWidth: Int
    private let siteWidth: Int

    init(_ trace: Exploration.Trace, width: Int) {
        self.trace = trace
        self.width = width
        let rows = trace.rows
        self.rows = rows
        letters = Exploration.Schedule.letters(for: trace.threads)
        numberWidth = max(2, String(trace.steps.count).count)
        barWidth = rows.contains { $0.bars.contains { !$0.isEmpty } } ? 2 : 0
        // Sites in other files may be wider; they are few.
        let sites = rows.map(\.cell.site).filter { $0.hasPrefix(":") }
        siteWidth = sites.map(\.columns).max() ?? 0
    }

    var legend: [Report.Span] {
        let names = trace.threads.indices.map { thread in
            Report.Span("\(letters[thread]) \(trace.threads[thread])", thread: thread)
        }
        return Array(names.map { [$0] }.joined(separator: [Report.Span(", ")]))
    }

    var lines: [[Report.Span]] {
        rows.flatMap(lines).map { $0.cut(to: width).trimmedAtEnd }
    }

    private func lines(_ row: TraceRow) -> [[Report.Span]] {
        guard let thread = row.thread else {
            let text = row.mark.map { "← \($0)" } ?? "at first: \(changes(row))"
            return [Report.Span(text)].wrapped(to: width)
        }
        let beginning =
            [row.numberSpan].leftPadded(to: numberWidth) + .blank(1) + whose(row) + .blank(1)
            + [row.bar(thread)].padded(to: barWidth)
        var lines = [beginning + step(row.cell, of: thread, room: width - beginning.columns)]
        if !row.changes.isEmpty { add("→", changes(row), .change, to: &lines) }
        if let mark = row.mark { add("←", mark.onOneLine, .remark, to: &lines) }
        return lines
    }

    /// The letter of the thread that makes the step, in its position. In the positions of the other
    /// threads, a bar for those that hold a lock.
    private func whose(_ row: TraceRow) -> [Report.Span] {
        trace.threads.indices.flatMap { thread in
            let letter = Report.Span(String(letters[thread]), thread: thread)
            return row.thread == thread
                ? [letter] : [row.bar(thread)].padded(to: letter.text.columns)
        }
    }

    private func step(_ cell: TraceCell, of thread: Int, room: Int) -> [Report.Span] {
        let site = cell.site.isEmpty ? "" : cell.site.leftPadded(to: siteWidth) + " "
        let comment = [cell.owner, cell.comment].filter { !$0.isEmpty }.map { " \($0)" }.joined()
        let text = cell.text.cut(
            to: room - site.columns - comment.columns, around: cell.isCode ? cell.access : 0)
        return [
            Report.Span(site, thread: thread),
            Report.Span(text, cell.isCode ? .source : .plain, thread: thread),
            Report.Span(comment, thread: thread),
        ]
    }

    private func changes(_ row: TraceRow) -> String {
        row.changes.map { column in
            let state = row.state(column).text
            return "\(trace.titles[column].onOneLine) \(state.isEmpty ? "–" : state)"
        }
        .joined(separator: ", ")
    }

    /// At the right end of the last line if there is room, and below it otherwise.
    private func add(
        _ sign: String, _ text: String, _ role: Report.Span.Role, to lines: inout [[Report.Span]]
    ) {
        let remark = Report.Span("\(sign) \(text)", role)
        let room = width - (lines.last?.columns ?? 0)
        if remark.text.columns + 2 <= room {
            lines[lines.count - 1] += [remark].leftPadded(to: room)
            return
        }
        let pieces = text.wrapped(to: width - numberWidth - 3)
        let widest = pieces.map(\.columns).max() ?? 0
        for (index, piece) in pieces.enumerated() {
            let beginning = index == 0 ? "\(sign) " : "  "
            lines.append(.blank(width - widest - 2) + [Report.Span(beginning + piece, role)])
        }
    }
}
