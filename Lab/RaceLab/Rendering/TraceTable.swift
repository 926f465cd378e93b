/// An interleaving as text for terminals: a column for each thread, a row for each step.
/// <doc:ReadingACounterexample> explains it.
///
/// If there are so many threads that their columns would be too narrow to read, the threads share
/// one column: each step begins with the letter of its thread, as in `SideBySide`.
extension Exploration.Trace {
    /// - Parameter width: the maximum number of columns of a line. An ellipsis marks text that is
    ///   cut.
    public func table(width: Int = 100) -> String { report(width: width).text }

    /// The same table, in spans.
    package func report(width: Int) -> Report {
        let table = Table(self, width: max(8, width))
        let explanation = legend.flatMap { [Report.Span($0)].wrapped(to: max(8, width)) }
        if table.isReadable { return Report(lines: table.lines + explanation) }
        let narrow = NarrowTable(self, width: max(8, width))
        return Report(
            lines: narrow.legend.wrapped(to: max(8, width)) + narrow.lines + explanation)
    }

    private struct Table {
        let trace: Exploration.Trace
        let rows: [TraceRow]
        let width: Int
        let numberWidth: Int
        let barWidths: [Int]
        let threadWidths: [Int]
        /// Whether each column has room for a short statement.
        let isReadable: Bool
        let stateWidths: [Int]

        init(_ trace: Exploration.Trace, width: Int) {
            self.trace = trace
            self.width = width
            let rows = trace.rows
            self.rows = rows
            numberWidth = max(2, String(trace.steps.count).count)
            barWidths = trace.threads.indices.map { thread in
                rows.contains { !$0.bars[thread].isEmpty } ? 2 : 0
            }
            let threadNeeds = trace.threads.indices.map { thread in
                let cells = rows.filter { $0.thread == thread }.map(\.cell)
                let widest = cells.map { $0.text.columns + $0.place.columns }.max() ?? 0
                return max(trace.threads[thread].columns, widest)
            }
            let stateNeeds = trace.columns.indices.map { column in
                let widest = rows.compactMap { $0.states?[column].columns }.max() ?? 0
                return max(trace.titles[column].columns, widest)
            }
            let gaps = 2 * (trace.threads.count + trace.columns.count)
            let room = width - numberWidth - gaps - barWidths.reduce(0, +)
            // If not everything fits, the source has priority over the states.
            let fits = (threadNeeds + stateNeeds).reduce(0, +) <= room
            let forThreads = min(threadNeeds.reduce(0, +), 12 * trace.threads.count)
            stateWidths =
                fits
                ? stateNeeds
                : share(max(room - forThreads, room / 3), among: stateNeeds.map { min($0, 22) })
            threadWidths = share(room - stateWidths.reduce(0, +), among: threadNeeds)
            // A place that is cut off says nothing.
            let widths = threadWidths
            let hasPlaces = rows.allSatisfy { row in
                guard let thread = row.thread else { return true }
                return row.cell.place.columns + min(row.cell.text.columns, 8) <= widths[thread]
            }
            isReadable =
                trace.threads.count <= 3
                || hasPlaces && zip(threadNeeds, threadWidths).allSatisfy { $1 >= min($0, 28) }
        }

        var lines: [[Report.Span]] {
            ([titles] + rows.flatMap(lines)).map { $0.cut(to: width).trimmedAtEnd }
        }

        private var titles: [Report.Span] {
            let threads = trace.threads.indices.map { thread in
                let name = trace.threads[thread].onOneLine.cut(to: threadWidths[thread])
                return .blank(barWidths[thread])
                    + [Report.Span(name, .title, thread: thread)]
                    .padded(to: threadWidths[thread])
            }
            let states = trace.titles.indices.map { column in
                [Report.Span(trace.titles[column].onOneLine, .title)]
                    .cut(to: stateWidths[column]).padded(to: stateWidths[column])
            }
            return joined([], threads + states)
        }

        private func lines(_ row: TraceRow) -> [[Report.Span]] {
            let threads = trace.threads.indices.map { thread in
                let cell = row.thread == thread ? row.cell : TraceCell()
                return [row.bar(thread)].padded(to: barWidths[thread])
                    + cell.spans(thread: thread, width: threadWidths[thread])
            }
            let states = stateWidths.indices.map {
                [row.state($0)].cut(to: stateWidths[$0]).padded(to: stateWidths[$0])
            }
            return marked(joined([row.numberSpan], threads + states).trimmedAtEnd, row.mark)
        }

        /// The mark comes after the row if there is room, and below it otherwise.
        private func marked(_ line: [Report.Span], _ mark: String?) -> [[Report.Span]] {
            guard let mark = mark?.onOneLine else { return [line] }
            let remark = Report.Span("  ← \(mark)", .remark)
            if line.columns + remark.text.columns <= width { return [line + [remark]] }
            let margin = numberWidth + 2
            let pieces = mark.wrapped(to: width - margin - 4)
            let widest = pieces.map(\.columns).max() ?? 0
            let indentation = max(margin, width - widest - 4)
            return [line]
                + pieces.enumerated().map { index, piece in
                    .blank(indentation)
                        + [Report.Span((index == 0 ? "  ← " : "    ") + piece, .remark)]
                }
        }

        private func joined(
            _ number: [Report.Span], _ cells: [[Report.Span]]
        ) -> [Report.Span] {
            number.leftPadded(to: numberWidth) + cells.flatMap { .blank(2) + $0 }
        }
    }
}
