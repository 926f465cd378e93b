extension Exploration.Trace {
    /// The interleaving as a table in GitHub's Markdown, with the schedule that reproduces it. Bars
    /// mark locks as in ``table(width:)``; nothing is cut.
    public var markdown: String {
        let marks = rows.contains { $0.mark != nil }
        let titles = [""] + threads + self.titles + (marks ? [""] : [])
        let body = rows.map { row in
            let cells = threads.indices.map { thread in
                let cell = row.thread == thread ? row.cell.markdown : ""
                return [row.bars[thread], cell].filter { !$0.isEmpty }.joined(separator: " ")
            }
            let states = columns.indices.map { (row.states?[$0] ?? "").markdownCode }
            let mark = marks ? [row.mark.map { "← " + $0.markdownText } ?? ""] : []
            return [row.number] + cells + states + mark
        }
        return Markdown.table(
            titles: titles.map(\.markdownText), alignRight: [0], rows: body)
            + legend.map { "\n\n\($0.markdownText)" }.joined()
            + "\n\nReplay: \(scheduleText.markdownCode)\n"
    }
}

extension TraceCell {
    var markdown: String {
        (isCode ? text.markdownCode : text.markdownText) + place.markdownText
    }
}
