import Foundation
import RaceLab
import SharedSuite
import StageTesting

/// Computes the figures in the prose of the Tutorial, each by a formula of a few words:
///
/// - `explored ID STAGE`, `failing ID STAGE`: interleavings, as the matrix counts them;
/// - `every ID STAGE`, `every-failing ID STAGE`: those that differ in nothing that matters as well;
/// - `survives STAGE`, `expressed STAGE`, `total`: the last lines of the matrix;
/// - `lines PATH`: how long a file is;
/// - `line PATH TEXT`: the number of the line with that text;
/// - `minutes`: what the chapter takes to read, in steps of five.
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
        case "survives" where words.count == 2:
            return try matrix(/Stage (\d) survives (\d+) of (\d+)/) {
                $0.1 == words[1] ? $0.2 : nil
            }
        case "expressed" where words.count == 2:
            return try matrix(/Stage (\d) survives (\d+) of (\d+)/) {
                $0.1 == words[1] ? $0.3 : nil
            }
        case "total":
            return try matrix(/([\d,]+) interleavings explored/) { $0.1 }
        case "lines" where words.count == 2:
            return lines(words[1]).map { "\($0.count)" }
        case "line" where words.count > 2:
            let wanted = words.dropFirst(2).joined(separator: " ")
            let index = lines(words[1])?.firstIndex { $0.contains(wanted) }
            return index.map { "\($0 + 1)" }
        case "minutes": return "\(minutes(ofTheChapterAt: line))"
        default: return nil
        }
    }

    private func lines(_ path: String) -> [String]? {
        let url = Commands.package.appending(path: path)
        guard
            var lines = try? String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        else { return nil }
        if lines.last == "" { lines.removeLast() }
        return lines
    }

    private func interleavings(_ words: [String]) -> String? {
        guard words.count == 3, let race = Catalogue.hazard(words[1]) as? any Race,
            let stage = Subject(.stage, words[2])
        else { return nil }
        var options = race.options
        options.reduction = !words[0].hasPrefix("every")
        let report = explore(options: options, race.scenario(on: stage))
        guard report.obstacle == nil else { return nil }
        return "\(words[0].hasSuffix("failing") ? report.failing : report.explored)"
    }

    private func matrix<Output>(
        _ pattern: Regex<Output>, _ pick: (Output) -> Substring?
    ) throws -> String? {
        guard let result = try Commands.run(documented: "swift run promise-lab") else { return nil }
        let found = result.output.matches(of: pattern).compactMap { pick($0.output) }
        return found.first.map(String.init)
    }

    /// Code and output are read more quickly than prose, and are not counted.
    private func minutes(ofTheChapterAt line: Int) -> Int {
        let start = prose.last { $0.line <= line && $0.text.hasPrefix("## ") }?.line ?? 1
        let end = prose.first { $0.line > start && $0.text.hasPrefix("## ") }?.line ?? Int.max
        let words = prose.filter { start..<end ~= $0.line }.reduce(0) { sum, line in
            sum + line.text.replacing(/<!--.*?-->/, with: "").split(separator: " ").count
        }
        let minutes = (words + Self.wordsInAMinute - 1) / Self.wordsInAMinute
        return max(5, (minutes + 4) / 5 * 5)
    }
}
