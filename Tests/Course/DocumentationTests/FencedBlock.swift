import Foundation

/// A fenced block of a Markdown file.
struct FencedBlock: Sendable {
    /// The line of the opening fence, counted from 1. The body begins on the next one.
    let line: Int
    /// The words after the opening fence: the language and any others.
    let words: [String]
    let body: [String]

    var language: String { words.first ?? "" }

    static func blocks(in text: String) -> [FencedBlock] {
        var blocks: [FencedBlock] = []
        let lines = text.components(separatedBy: "\n")
        var index = 0
        while index < lines.count {
            defer { index += 1 }
            guard lines[index].hasPrefix("```") else { continue }
            let end = lines[(index + 1)...].firstIndex(of: "```") ?? lines.count
            let words = lines[index].dropFirst(3).split(separator: " ").map(String.init)
            blocks.append(
                FencedBlock(line: index + 1, words: words, body: Array(lines[(index + 1)..<end])))
            index = end
        }
        return blocks
    }

    /// The lines of a text outside blocks, with their numbers, counted from 1.
    static func prose(of text: String) -> [(line: Int, text: String)] {
        let inside = Set(
            blocks(in: text).flatMap { $0.line...$0.line + $0.body.count + 1 })
        return text.components(separatedBy: "\n").enumerated().compactMap { index, line in
            let number = index + 1
            return inside.contains(number) ? nil : (number, line)
        }
    }
}
