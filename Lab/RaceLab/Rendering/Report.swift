/// A report as lines of spans. A terminal, a document and another process make what they need from
/// the spans; nothing is read back from printed text.
package struct Report: Codable, Hashable, Sendable {
    /// A piece of text, and what it is.
    package struct Span: Codable, Hashable, Sendable {
        package enum Role: String, Codable, Sendable {
            case plain
            /// A title above a column.
            case title
            /// A line of source.
            case source
            /// A state, unchanged or changed by the step.
            case state, change
            /// Why a step matters, or why a thread waits; also the number of such a step.
            case remark
            /// A verdict.
            case failure, success
        }

        package var text: String
        package let role: Role
        /// The index of the thread to which the text belongs.
        package let thread: Int?

        package init(_ text: String, _ role: Role = .plain, thread: Int? = nil) {
            self.text = text
            self.role = role
            self.thread = thread
        }
    }

    package var lines: [[Span]]

    package init(lines: [[Span]]) { self.lines = lines }

    /// The plain text.
    package var text: String { text(\.text) }

    /// - Parameter style: the text of a span as it is written, for instance with a color.
    package func text(_ style: (Span) -> String) -> String {
        lines.map { $0.map(style).joined() }.joined(separator: "\n")
    }

    /// Whether a remark says this.
    package func remarks(_ text: String) -> Bool {
        lines.contains { $0.contains { $0.role == .remark && $0.text.contains(text) } }
    }
}

/// Layout of a line.
extension [Report.Span] {
    package static func blank(_ columns: Int) -> [Report.Span] {
        columns > 0 ? [Report.Span(String(repeating: " ", count: columns))] : []
    }

    package var columns: Int { reduce(0) { $0 + $1.text.columns } }

    package func padded(to width: Int) -> [Report.Span] { self + .blank(width - columns) }

    func leftPadded(to width: Int) -> [Report.Span] { .blank(width - columns) + self }

    package var trimmedAtEnd: [Report.Span] {
        var line = self
        while let last = line.popLast() {
            let text = last.text.trimmedAtEnd
            if !text.isEmpty { return line + [Report.Span(text, last.role, thread: last.thread)] }
        }
        return []
    }

    /// The line, shortened to `width` columns if it is longer. No space precedes the ellipsis.
    package func cut(to width: Int) -> [Report.Span] {
        if columns <= width { return self }
        var line: [Report.Span] = []
        var room = width - 1
        for span in self where room >= 0 {
            let isWhole = span.text.columns <= room
            var text = isWhole ? span.text : span.text.fitting(room)
            room = isWhole ? room - span.text.columns : -1
            if !isWhole { text = text.trimmedAtEnd + "…" }
            line.append(Report.Span(text, span.role, thread: span.thread))
        }
        return line
    }

    /// The text of all spans, wrapped into lines between words. A word that is too long is cut.
    func wrapped(to width: Int) -> [[Report.Span]] { filled(to: width).map { $0.cut(to: width) } }

    /// The same, but a word that is too long remains.
    package func filled(to width: Int) -> [[Report.Span]] {
        var lines: [[Report.Span]] = []
        var line: [Report.Span] = []
        for word in words {
            if !line.isEmpty, line.columns + 1 + word.columns > width {
                lines.append(line)
                line = []
            }
            line += (line.isEmpty ? [] : [Report.Span(" ")]) + word
        }
        return lines + [line]
    }

    private var words: [[Report.Span]] {
        var words: [[Report.Span]] = []
        var word: [Report.Span] = []
        for span in self {
            let parts = span.text.onOneLine.split(
                separator: " ", omittingEmptySubsequences: false)
            for (index, part) in parts.enumerated() {
                if index > 0, !word.isEmpty {
                    words.append(word)
                    word = []
                }
                if !part.isEmpty {
                    word.append(Report.Span(String(part), span.role, thread: span.thread))
                }
            }
        }
        return word.isEmpty ? words : words + [word]
    }
}

extension String {
    /// The text, wrapped into lines between words.
    func wrapped(to width: Int) -> [String] {
        [Report.Span(self)].wrapped(to: width).map { $0.map(\.text).joined() }
    }
}
