import Foundation

/// A block of a Markdown file that shows a command and its output:
///
///     ```console
///     $ swift run promise-lab list
///     …
///     ```
struct ConsoleBlock: Sendable, CustomStringConvertible {
    /// The line of the command, counted from 1.
    let line: Int
    let command: String
    /// The documented output. Empty if the document only names the command.
    let output: [String]

    var description: String { "line \(line): \(command)" }

    static func blocks(in text: String) -> [ConsoleBlock] {
        FencedBlock.blocks(in: text).compactMap { block in
            guard block.language == "console", let first = block.body.first,
                first.hasPrefix("$ ")
            else { return nil }
            return ConsoleBlock(
                line: block.line + 1, command: String(first.dropFirst(2)),
                output: Array(block.body.dropFirst()))
        }
    }

    /// The part of the output that a document shows. Of the report on the tests of a stage, it
    /// shows the results of the rows.
    func excerpt(_ lines: [String]) -> [String] {
        guard command.hasPrefix("swift test") else { return lines }
        return lines.filter { line in ["✔ ", "━ ", "➜ ", "✘ "].contains { line.hasPrefix($0) } }
    }
}

/// The first line in which two texts differ, counted from 0.
func firstDifference(_ left: [String], _ right: [String]) -> Int? {
    let common = zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset
    return common ?? (left.count == right.count ? nil : min(left.count, right.count))
}
