import Foundation

/// The blocks of a Markdown file that show a command and what it prints:
///
///     ```console
///     $ swift run promise-lab list
///     …
///     ```
struct ConsoleBlock: Sendable, CustomStringConvertible {
    /// The line on which the command stands, counted from 1.
    let line: Int
    let command: String
    /// What the document says that it prints. Nothing if the document only names the command.
    let output: [String]

    var description: String { "line \(line): \(command)" }

    static func blocks(in text: String) -> [ConsoleBlock] {
        var blocks: [ConsoleBlock] = []
        let lines = text.components(separatedBy: "\n")
        var index = 0
        while index < lines.count {
            defer { index += 1 }
            guard lines[index] == "```console" else { continue }
            let end = lines[(index + 1)...].firstIndex(of: "```") ?? lines.count
            guard end > index + 1, lines[index + 1].hasPrefix("$ ") else { continue }
            blocks.append(
                ConsoleBlock(
                    line: index + 2, command: String(lines[index + 1].dropFirst(2)),
                    output: Array(lines[(index + 2)..<end])))
            index = end
        }
        return blocks
    }

    /// The text with the output of each block replaced by what `print` says it prints now; where
    /// that is `nil`, the block stays as it is.
    static func updated(
        _ text: String, _ print: (ConsoleBlock) throws -> [String]?
    ) rethrows -> String {
        var lines = text.components(separatedBy: "\n")
        for block in blocks(in: text).reversed() {
            guard let output = try print(block) else { continue }
            lines.replaceSubrange(block.line..<(block.line + block.output.count), with: output)
        }
        return lines.joined(separator: "\n")
    }
}

/// The first line in which two texts differ, counted from 0.
func firstDifference(_ left: [String], _ right: [String]) -> Int? {
    let common = zip(left, right).enumerated().first { $1.0 != $1.1 }?.offset
    return common ?? (left.count == right.count ? nil : min(left.count, right.count))
}
