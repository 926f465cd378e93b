import Foundation
import RaceLab
import SharedSuite

/// Computes the figures in the prose of the Tutorial. These are the formulas:
///
/// - `explored ID SUBJECT`, `failing ID SUBJECT`: interleavings, as the matrix counts them; the
///   subject is a stage, `1`, or a step, `A`;
/// - `every ID SUBJECT`, `every-failing ID SUBJECT`: the same without reduction;
/// - `conflicts PICTURE`: the hatched squares of a map in `docs/Pictures`.
struct TutorialFigures {
    func value(_ formula: String, line: Int) throws -> String? {
        let words = formula.split(separator: " ").map(String.init)
        switch words.first {
        case "explored", "failing", "every", "every-failing": return interleavings(words)
        case "conflicts" where words.count == 2:
            let file = Commands.package.appending(path: "docs/Pictures/\(words[1]).svg")
            let picture = try String(contentsOf: file, encoding: .utf8)
            return "\(picture.components(separatedBy: "class=\"conflict\"").count - 1)"
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

    /// The number of words in lines of prose, without comments and table markup.
    static func words(in lines: [String]) -> Int {
        lines.reduce(0) { sum, line in
            sum
                + line.replacing(/<!--.*?-->/, with: "").split(separator: " ")
                .count { $0.contains { $0.isLetter || $0.isNumber } }
        }
    }
}
