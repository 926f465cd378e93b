extension Exploration.Trace {
    /// The interleaving as a table in GitHub's Markdown, with the schedule that reproduces it. Bars
    /// mark locks as in ``table(width:)``; nothing is cut.
    public var markdown: String {
        let marks = rows.contains { $0.mark != nil }
        let titles = [""] + threads + self.titles + (marks ? [""] : [])
        let body = rows.map { row in
            let cells = threads.indices.map { thread in
                let cell = row.thread == thread ? row.cell.spans(thread: thread) : []
                return [row.bars[thread], cell.map(\.markdown).joined()].filter { !$0.isEmpty }
                    .joined(separator: " ")
            }
            let states = columns.indices.map { row.state($0).markdown }
            let mark = marks ? [row.mark.map { "← " + $0.markdownText } ?? ""] : []
            return [row.number] + cells + states + mark
        }
        // The numbers are on the right.
        let rule = ["---:"] + titles.dropFirst().map { _ in "---" }
        let table = ([titles.map(\.markdownText), rule] + body)
            .map { "| \($0.joined(separator: " | ")) |" }.joined(separator: "\n")
        return table
            + legend.map { "\n\n\($0.markdownText)" }.joined()
            + "\n\nReplay: \(scheduleText.markdownCode)\n"
    }
}

extension Report.Span {
    var markdown: String {
        switch role {
        case .source, .state, .change: text.markdownCode
        default: text.markdownText
        }
    }
}

/// Escapes text so that Markdown shows it unchanged.
extension String {
    /// The text as code, valid in a table, too: backticks inside get a longer fence, and a bar gets
    /// a backslash. Empty if the text is blank.
    var markdownCode: String {
        let text = onOneLine.replacing("|", with: "\\|")
        guard text.contains(where: { $0 != " " }) else { return "" }
        let longest = text.matches(of: #/`+/#).map(\.output.count).max() ?? 0
        let fence = String(repeating: "`", count: longest + 1)
        let gap = text.hasPrefix("`") || text.hasSuffix("`") ? " " : ""
        return fence + gap + text + gap + fence
    }

    /// The text as plain text.
    var markdownText: String {
        var escaped = ""
        for character in onOneLine {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case "\\", "`", "*", "_", "{", "}", "[", "]", "#", "|", "~", "!", ">", "$":
                escaped += "\\\(character)"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
