import Foundation
import RaceLab
import Synchronization

typealias Span = Report.Span

/// Formats output: in the width of the terminal, and in color unless the environment says no.
/// Without a terminal, it is plain text in 100 columns.
enum Terminal {
    /// The maximum width of a table.
    static let tableWidth = columns(of: STDOUT_FILENO)

    /// The maximum width of everything else: longer lines of prose are hard to read.
    static let width = min(tableWidth, 100)

    static func columns(of file: Int32) -> Int {
        var size = winsize()
        guard isatty(file) == 1, ioctl(file, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 100
        }
        return min(max(Int(size.ws_col), 60), 240)
    }

    // MARK: Color

    /// xterm's colors with a contrast of at least 4.5 on white and on black.
    static let threads = [63, 131, 29, 163, 98]
    static let grey = 243

    private static let usesColor =
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    static func painted(_ span: Span) -> String {
        guard usesColor, span.text.contains(where: { $0 != " " }), let code = code(of: span) else {
            return span.text
        }
        return "\u{1B}[\(code)m\(span.text)\u{1B}[0m"
    }

    static func painted(_ text: String, _ role: Span.Role) -> String { painted(Span(text, role)) }

    /// The parameters of the escape sequence for a span; `nil` if it has no color.
    static func code(of span: Span) -> String? {
        if let thread = span.thread { return "38;5;\(threads[thread % threads.count])" }
        return switch span.role {
        case .title, .change: "1"
        case .state: "38;5;\(grey)"
        case .remark, .failure: "31"
        case .success: "32"
        case .plain, .source: nil
        }
    }

    static func text(_ report: Report) -> String { report.text(painted) }

    /// Writes a sentence to standard error.
    static func complain(_ text: String) {
        // Standard output first, or a pipe would show the two in any order.
        fflush(nil)
        let width = min(columns(of: STDERR_FILENO), 100)
        let lines = "promise-lab: \(text)".components(separatedBy: "\n").map { line in
            line.columns > width && !line.contains("\u{1B}") ? wrapped(line, to: width) : line
        }
        write(lines.joined(separator: "\n") + "\n")
    }

    fileprivate static func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }

    /// Ends the command with status 1 if there are differences from what is documented.
    static func end(with differences: [String]) {
        for difference in differences { complain(difference) }
        if !differences.isEmpty { exit(1) }
    }

    // MARK: Layout

    /// Breaks a text into lines that begin with `margin` spaces.
    static func wrapped(
        _ text: String, _ role: Span.Role = .plain, margin: Int = 0, to width: Int = Terminal.width
    ) -> String {
        wrapped([Span(text, role)], margin: margin, to: width)
    }

    static func wrapped(
        _ spans: [Span], margin: Int = 0, to width: Int = Terminal.width
    ) -> String {
        let start = String(repeating: " ", count: margin)
        return spans.filled(to: width - margin)
            .map { start + $0.map(painted).joined() }.joined(separator: "\n")
    }

    /// A text that has been wrapped by hand: unchanged if it fits, and wrapped anew otherwise.
    static func fitted(_ text: String, to width: Int = Terminal.width) -> String {
        let lines = text.components(separatedBy: "\n")
        return lines.allSatisfy { $0.columns <= width } ? text : prose(text, to: width)
    }

    /// Wraps paragraphs anew. Of those that are indented, only a line in two columns is wrapped. In
    /// the items of a list, all lines but the first have a margin.
    static func prose(_ text: String, to width: Int = Terminal.width) -> String {
        text.components(separatedBy: "\n\n").map { paragraph in
            if paragraph.hasPrefix(" ") {
                return paragraph.components(separatedBy: "\n").map { line in
                    guard line.columns > width,
                        let columns = line.firstMatch(of: #/( *\S.*? {2,})(.*)/#)
                    else { return line }
                    return hanging(String(columns.1), String(columns.2), to: width)
                }.joined(separator: "\n")
            }
            let items = paragraph.replacing(#/\n(?!\d\. |- ) */#, with: " ")
            return items.components(separatedBy: "\n").map { item in
                let start = item.prefixMatch(of: #/\d\. |- /#).map { String($0.0) } ?? ""
                return hanging(start, String(item.dropFirst(start.count)), to: width)
            }.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// A text after a beginning; all lines but the first have a margin of its width.
    static func hanging(
        _ beginning: String, _ text: String, to width: Int = Terminal.width
    ) -> String {
        let margin = beginning.columns
        return beginning + wrapped(text, margin: margin, to: width).dropFirst(margin)
    }

    /// Names, and in a second column what they mean.
    static func list(_ rows: [(name: String, meaning: String)]) -> String {
        let margin = min(rows.map(\.name.columns).max() ?? 0, width / 3) + 4
        return rows.map { name, meaning in
            let beginning = "  \(name)".padded(to: margin)
            return beginning.columns > margin
                ? "\(beginning)\n\(wrapped(meaning, margin: margin))" : hanging(beginning, meaning)
        }.joined(separator: "\n")
    }

    /// Two texts at the two ends of a line, or on two lines if they do not fit.
    static func spread(_ left: [Span], _ right: Span) -> String {
        if right.text.isEmpty { return wrapped(left) }
        let gap = width - left.columns - right.text.columns
        guard gap >= 2 else { return "\(wrapped(left))\n\(wrapped([right], margin: 2))" }
        return wrapped(left) + String(repeating: " ", count: gap) + painted(right)
    }

    /// A line of a table. Each cell is cut and padded to its width, which includes a gap.
    static func row(_ cells: [Span], _ widths: [Int]) -> String {
        let spans = zip(cells, widths).flatMap { cell, width in
            [cell].cut(to: width - 1).padded(to: width)
        }
        return spans.trimmedAtEnd.map(painted).joined()
    }
}

/// Reports progress on standard error when a command takes longer than a second.
final class Progress: Sendable {
    private struct State {
        var label: String
        var isOver = false
        /// The last label written: without a terminal, each label is written only once.
        var written: String?
    }

    private let state: Mutex<State>
    private let rewrites = isatty(STDERR_FILENO) == 1
    private static let clear = "\r\u{1B}[K"

    init(_ label: String = "") {
        state = Mutex(State(label: label))
        Thread.detachNewThread { [self] in
            Thread.sleep(forTimeInterval: 1)
            while show() { Thread.sleep(forTimeInterval: rewrites ? 0.2 : 5) }
        }
    }

    func now(_ label: String) { state.withLock { $0.label = label } }

    func end() {
        state.withLock { state in
            state.isOver = true
            if rewrites, state.written != nil { Terminal.write(Progress.clear) }
        }
    }

    /// Writes the label, and returns whether there may be others.
    private func show() -> Bool {
        state.withLock { state in
            if state.isOver { return false }
            if rewrites {
                let room = Terminal.columns(of: STDERR_FILENO) - 3
                Terminal.write("\(Progress.clear)… \(state.label.cut(to: room))")
            } else if state.written != state.label {
                Terminal.write("… \(state.label)\n")
            }
            state.written = state.label
            return true
        }
    }
}

extension Int {
    /// With a comma at every third digit.
    var grouped: String { formatted(.number.locale(Locale(identifier: "en_US"))) }
}
