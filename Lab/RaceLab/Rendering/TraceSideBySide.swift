extension Exploration {
    /// Two interleavings beside each other, for instance those of one scenario on two classes.
    ///
    /// ```
    /// Naive                                    ┃ Locked
    /// 4 of 6 interleavings fail                ┃ 0 of 2 interleavings fail
    /// F first, S second                        ┃ F first, S second
    ///                                          ┃
    /// at first: value 0                        ┃ at first: value 0
    ///  1 F  :16 let seen = value               ┃  1 F  ┌ :23 lock.lock()
    ///  2  S :16 let seen = value               ┃  2 F  └ :24 value += 1         → value 1
    ///  3  S :17 value = seen + 1     → value 1 ┃  3  S ┌ :23 lock.lock()
    ///  4 F  :17 value = seen + 1               ┃  4  S └ :24 value += 1         → value 2
    /// ```
    ///
    /// Half of the width is too narrow for a column per thread. Instead, a step begins with the
    /// letter of its thread, as in a schedule, and each letter has its own position. A bar in this
    /// position means that the thread holds a lock while another thread runs. The line number and
    /// the line follow; then, after `→`, the state if it has changed, and after `←`, the mark.
    /// State and mark are at the end of the row if there is room, and below it otherwise.
    public struct SideBySide: Sendable {
        /// One of the two interleavings, with a heading and a verdict.
        public struct Half: Sendable {
            let heading: [String]
            let trace: Trace
            let verdict: String

            /// Creates a half.
            ///
            /// - Parameters:
            ///   - heading: lines above the interleaving.
            ///   - trace: the interleaving.
            ///   - verdict: a sentence below it.
            public init(heading: [String], _ trace: Trace, verdict: String) {
                self.heading = heading
                self.trace = trace
                self.verdict = verdict
            }

            /// The parts of the half. Each part begins on the same line in both halves.
            func sections(width: Int) -> [[String]] {
                let table = NarrowTable(trace, width: width)
                let titles = (heading + [table.legend]).flatMap { $0.wrapped(to: width) }
                let legend = trace.legend.flatMap { $0.wrapped(to: width) }
                return [titles, table.lines + legend, verdict.wrapped(to: width)]
            }
        }

        /// Heavier than the bar that marks a lock.
        private static let divider = " ┃ "

        private let left: Half
        private let right: Half

        /// Puts two interleavings beside each other.
        public init(_ left: Half, _ right: Half) {
            self.left = left
            self.right = right
        }

        /// - Parameter width: the maximum number of columns of a line. An ellipsis marks text that
        ///   is cut.
        public func text(width: Int = 100) -> String {
            let room = max(8, (width - SideBySide.divider.columns) / 2)
            return zip(left.sections(width: room), right.sections(width: room))
                .map { SideBySide.joined($0, $1, room) }
                .joined(separator: ["".padded(to: room) + SideBySide.divider])
                .map { $0.cut(to: width).trimmedAtEnd }
                .joined(separator: "\n")
        }

        private static func joined(_ left: [String], _ right: [String], _ room: Int) -> [String] {
            (0..<max(left.count, right.count)).map { index in
                let one = left.indices.contains(index) ? left[index] : ""
                let other = right.indices.contains(index) ? right[index] : ""
                return one.padded(to: room) + divider + other
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

    var legend: String {
        zip(letters, trace.threads).map { "\($0) \($1)" }.joined(separator: ", ")
    }

    var lines: [String] { rows.flatMap(lines).map { $0.cut(to: width).trimmedAtEnd } }

    private func lines(_ row: TraceRow) -> [String] {
        guard let thread = row.thread else {
            return "at first: \(changes(row))".wrapped(to: width)
        }
        let beginning =
            [row.number.leftPadded(to: numberWidth), whose(row), ""].joined(separator: " ")
            + row.bars[thread].padded(to: barWidth)
        var lines = [beginning + step(row.cell, room: width - beginning.columns)]
        if !row.changes.isEmpty { add("→", changes(row), to: &lines) }
        if let mark = row.mark { add("←", mark.onOneLine, to: &lines) }
        return lines
    }

    /// The letter of the thread that makes the step, in its position. In the positions of the other
    /// threads, a bar for those that hold a lock.
    private func whose(_ row: TraceRow) -> String {
        trace.threads.indices.map { thread in
            let letter = String(letters[thread])
            return row.thread == thread ? letter : row.bars[thread].padded(to: letter.columns)
        }
        .joined()
    }

    private func step(_ cell: TraceCell, room: Int) -> String {
        let site = cell.site.isEmpty ? "" : cell.site.leftPadded(to: siteWidth) + " "
        let comment = [cell.owner, cell.comment].filter { !$0.isEmpty }.map { " \($0)" }.joined()
        let text = cell.text.cut(
            to: room - site.columns - comment.columns, around: cell.isCode ? cell.access : 0)
        return site + text + comment
    }

    private func changes(_ row: TraceRow) -> String {
        row.changes.map { column in
            let state = row.states?[column].onOneLine ?? ""
            return "\(trace.titles[column].onOneLine) \(state.isEmpty ? "–" : state)"
        }
        .joined(separator: ", ")
    }

    /// At the right end of the last line if there is room, and below it otherwise.
    private func add(_ sign: String, _ text: String, to lines: inout [String]) {
        let remark = "\(sign) \(text)"
        let room = width - (lines.last?.columns ?? 0)
        if remark.columns + 2 <= room {
            lines[lines.count - 1] += remark.leftPadded(to: room)
            return
        }
        let pieces = text.wrapped(to: width - numberWidth - 3)
        let widest = pieces.map(\.columns).max() ?? 0
        for (index, piece) in pieces.enumerated() {
            let margin = String(repeating: " ", count: max(0, width - widest - 2))
            lines.append(margin + (index == 0 ? "\(sign) " : "  ") + piece)
        }
    }
}
