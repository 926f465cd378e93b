import Foundation
import RaceLab
import Synchronization

/// Formats output: color on a terminal, plain text everywhere else.
enum Terminal {
    struct Colour: Hashable {
        let code: String

        static let green = Colour(code: "32")
        static let red = Colour(code: "31")
        static let grey = Colour(code: "90")
        static let bold = Colour(code: "1")

        /// The color of a thread: blue, orange, purple, teal, as on the page.
        static func thread(_ index: Int) -> Colour {
            let codes = ["38;5;75", "38;5;208", "38;5;177", "38;5;43"]
            return Colour(code: codes[index % codes.count])
        }
    }

    /// The maximum width of a table: the width of the terminal, from 60 columns on, and 100 if
    /// there is none.
    static let tableWidth = columns(of: STDOUT_FILENO)

    /// The maximum width of everything else: long lines of prose are hard to read.
    static let width = min(tableWidth, 100)

    private static func columns(of file: Int32) -> Int {
        var size = winsize()
        guard isatty(file) == 1, ioctl(file, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 100
        }
        return min(max(Int(size.ws_col), 60), 240)
    }

    /// An interleaving as a table, in color on a terminal.
    static func table(of trace: Exploration.Trace) -> String {
        PaintedTable(trace.table(width: tableWidth)).text(painted)
    }

    /// A table that was made by another process.
    static func table(_ text: String) -> String { PaintedTable(text).text(painted) }

    private static let usesColour =
        isatty(STDOUT_FILENO) == 1 && ProcessInfo.processInfo.environment["NO_COLOR"] == nil
        && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    static func painted(_ text: String, _ colour: Colour) -> String {
        usesColour ? "\u{1B}[\(colour.code)m\(text)\u{1B}[0m" : text
    }

    static func complain(_ text: String) {
        let width = min(columns(of: STDERR_FILENO), 100)
        let lines = text.components(separatedBy: "\n").map { line in
            line.count > width ? wrapped(line, to: width) : line
        }
        FileHandle.standardError.write(Data("\(lines.joined(separator: "\n"))\n".utf8))
    }

    /// Breaks a text into lines that begin with `indentation`.
    static func wrapped(
        _ text: String, indentation: String = "", to width: Int = Terminal.width
    ) -> String {
        indentation
            + filled(text.split(separator: " ").map(String.init), indentation.count, width)
    }

    /// Puts pieces on lines that fit; all lines but the first have a margin.
    private static func filled(_ pieces: [String], _ margin: Int, _ width: Int) -> String {
        var text = ""
        var column = margin
        for (index, piece) in pieces.enumerated() {
            if index > 0, column + 1 + piece.shownCount > width {
                text += "\n" + String(repeating: " ", count: margin)
                column = margin
            } else if index > 0 {
                text += " "
                column += 1
            }
            text += piece
            column += piece.shownCount
        }
        return text
    }

    /// A beginning, and pieces that are not broken, each below the first if it does not fit.
    static func hanging(_ beginning: String, _ pieces: [String]) -> String {
        beginning + filled(pieces, beginning.count, width)
    }

    /// Paragraphs, with an empty line between two. Those that are indented are printed unchanged.
    static func prose(_ text: String) -> String {
        text.components(separatedBy: "\n\n").map { paragraph in
            paragraph.hasPrefix(" ")
                ? paragraph : wrapped(paragraph.replacing("\n", with: " "))
        }.joined(separator: "\n\n")
    }

    /// Names, and in a second column what they mean.
    static func list(_ rows: [(name: String, meaning: String)]) -> String {
        let names = rows.map(\.name.count).max() ?? 0
        let margin = min(names, width / 3) + 4
        return rows.map { name, meaning in
            let beginning = "  \(name)".padded(to: margin)
            let lines = filled(meaning.split(separator: " ").map(String.init), margin, width)
            let gap = String(repeating: " ", count: margin)
            return beginning.count > margin ? "\(beginning)\n\(gap)\(lines)" : beginning + lines
        }.joined(separator: "\n")
    }

    /// Two texts at the two ends of a line, or on two lines if they do not fit.
    static func spread(_ left: String, _ right: String) -> String {
        if right.isEmpty { return left }
        let gap = width - left.shownCount - right.shownCount
        guard gap >= 2 else { return "\(left)\n\(wrapped(right, indentation: "  "))" }
        return left + String(repeating: " ", count: gap) + right
    }
}

/// Reports progress on standard error when a command takes longer than a second.
final class Progress: Sendable {
    private struct State {
        var label = ""
        var isOver = false
        var shown = 0
        /// The last label written: without a terminal, each label is written only once.
        var written = ""
    }

    private let state = Mutex(State())
    private let rewrites = isatty(STDERR_FILENO) == 1

    init() {
        let thread = Thread { [self] in
            Thread.sleep(forTimeInterval: 1)
            while let label = state.withLock({ $0.isOver ? nil : $0.label }) {
                show(label)
                Thread.sleep(forTimeInterval: rewrites ? 0.2 : 5)
            }
        }
        thread.start()
    }

    func now(_ label: String) {
        state.withLock { $0.label = label }
    }

    func end() {
        state.withLock { state in
            state.isOver = true
            if rewrites, state.shown > 0 { clear() }
        }
    }

    private func show(_ label: String) {
        state.withLock { state in
            guard !state.isOver, rewrites || state.written != label else { return }
            if rewrites, state.shown > 0 { clear() }
            state.written = label
            FileHandle.standardError.write(Data("… \(label)\(rewrites ? "" : "\n")".utf8))
            state.shown += 1
        }
    }

    private func clear() {
        FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
}

extension String {
    /// The number of columns that it occupies. Color codes occupy none.
    fileprivate var shownCount: Int {
        contains("\u{1B}") ? replacing(#/\u{1B}\[[0-9;]*m/#, with: "").count : count
    }

    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension Int {
    /// With a comma at every third digit.
    var grouped: String {
        var text = ""
        for (index, digit) in String(self).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
