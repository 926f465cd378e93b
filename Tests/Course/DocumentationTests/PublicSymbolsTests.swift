import Foundation
import SharedSuite
import Testing

/// Every public symbol of the lab's libraries is documented.
@Suite("Public symbols")
struct PublicSymbolsTests {
    @Test(
        "each has a documentation comment",
        arguments: ["RaceLab", "RaceLabTesting", "LabPage"])
    func documented(target: String) throws {
        for file in try Commands.sources(of: target) {
            let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
            for line in Self.undocumented(lines) {
                Issue.record("\(file.lastPathComponent):\(line + 1): \(lines[line])")
            }
        }
    }

    @Test("an undocumented symbol is noticed")
    func notices() {
        let lines = [
            "/// A class.", "public final class Some {", "    public var one = 1", "    /// Two.",
            "    @discardableResult", "    public func two() {}", "    var three = 3", "}",
        ]
        #expect(Self.undocumented(lines) == [2])
    }

    /// The lines of public declarations without a comment. Requirements of protocols of the
    /// standard library need none.
    private static func undocumented(_ lines: [String]) -> [Int] {
        let declaration = #/^\s*(@\w+ )*(public|open) (?!internal|import)/#
        let asked =
            #/static func (<|==)|init\(from |func encode\(to |func hash\(into |var (errorD|d)escription/#
        return lines.indices.filter { index in
            guard lines[index].prefixMatch(of: declaration) != nil,
                lines[index].firstMatch(of: asked) == nil
            else { return false }
            let before = lines[..<index].last { !$0.drop { $0 == " " }.hasPrefix("@") } ?? ""
            return !before.drop { $0 == " " }.hasPrefix("///")
        }
    }
}
