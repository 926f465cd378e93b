import Foundation
import RaceLab
import SharedSuite

/// Computes the figures in the prose of the Tutorial. These are the formulas:
///
/// - `explored ID SUBJECT`, `failing ID SUBJECT`: interleavings, as the matrix counts them; the
///   subject is a stage, `1`, or a step, `A`;
/// - `every ID SUBJECT`, `every-failing ID SUBJECT`: the same without reduction;
/// - `minutes`: the reading time of the chapter, rounded up to five minutes.
struct TutorialFigures {
    static let wordsInAMinute = 120

    private let prose: [(line: Int, text: String)]

    init(text: String) {
        prose = FencedBlock.prose(of: text)
    }

    func value(_ formula: String, line: Int) throws -> String? {
        let words = formula.split(separator: " ").map(String.init)
        switch words.first {
        case "explored", "failing", "every", "every-failing": return interleavings(words)
        case "minutes": return "\(minutes(ofTheChapterAt: line))"
        default: return nil
        }
    }

    private func interleavings(_ words: [String]) -> String? {
        guard words.count == 3, let race = Catalogue.hazard(words[1]) as? any Race,
            let subject = Subject(.stage, words[2]) ?? Subject(.step, words[2])
        else { return nil }
        var options = race.options
        options.reduction = !words[0].hasPrefix("every")
        let exploration = explore(options: options, race.scenario(on: subject))
        guard exploration.inconclusive == nil else { return nil }
        return "\(words[0].hasSuffix("failing") ? exploration.failing : exploration.explored)"
    }

    /// Code and output are read faster than prose, and are not counted.
    private func minutes(ofTheChapterAt line: Int) -> Int {
        let start = prose.last { $0.line <= line && $0.text.hasPrefix("## ") }?.line ?? 1
        let end = prose.first { $0.line > start && $0.text.hasPrefix("## ") }?.line ?? Int.max
        let words = Self.words(in: prose.filter { start..<end ~= $0.line }.map(\.text))
        let minutes = (words + Self.wordsInAMinute - 1) / Self.wordsInAMinute
        return max(5, (minutes + 4) / 5 * 5)
    }

    /// The number of words in lines of prose, without comments and table markup.
    static func words(in lines: [String]) -> Int {
        lines.reduce(0) { sum, line in
            sum
                + line.replacing(/<!--.*?-->/, with: "").split(separator: " ")
                .count { $0.contains { $0.isLetter || $0.isNumber } }
        }
    }
}
