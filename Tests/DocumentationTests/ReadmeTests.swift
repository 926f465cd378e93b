import Foundation
import StageTesting
import Testing

/// What the README shows is what its commands print.
@Suite("README")
struct ReadmeTests {
    static let file = Commands.package.appending(path: "README.md")

    /// `UPDATE_README=1 swift test --filter Readme` rewrites the blocks, never the prose.
    static let updates = ProcessInfo.processInfo.environment["UPDATE_README"] == "1"

    @Test("every console block is what its command prints now", .needsTheLab)
    func blocks() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        var checked = 0
        let updated = try ConsoleBlock.updated(text) { block in
            guard !block.output.isEmpty || Self.updates else { return nil }
            guard let result = try Commands.run(documented: block.command) else { return nil }
            checked += 1
            #expect(
                result.status == 0, "README.md:\(block.line): \(block.command): \(result.errors)")
            let lines = block.excerpt(result.lines)
            if !Self.updates, let difference = firstDifference(block.output, lines) {
                let said = block.output.indices.contains(difference) ? block.output[difference] : ""
                let prints = lines.indices.contains(difference) ? lines[difference] : ""
                Issue.record(
                    """
                    README.md:\(block.line + 1 + difference): `\(block.command)` prints
                      \(prints)
                    but the README says
                      \(said)
                    """)
            }
            return lines
        }
        #expect(checked >= 4, "the blocks have to be found before they can be compared")
        if Self.updates { try updated.write(to: Self.file, atomically: true, encoding: .utf8) }
    }

    @Test("every path that is named exists")
    func paths() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let paths = text.matches(of: /`((?:Sources|Tests|Examples|Exercises)\/[^`\s]*)`/).map {
            String($0.1)
        }
        #expect(paths.count >= 8)
        for path in paths {
            let exists = FileManager.default.fileExists(
                atPath: Commands.package.appending(path: path).path)
            #expect(exists, "README.md names \(path)")
        }
    }

    @Test("the check notices a changed digit, a changed line and a missing one")
    func theCheckItself() {
        let text = "Text\n```console\n$ a command\nline 1\nline 2\n```\nmore"
        let blocks = ConsoleBlock.blocks(in: text)
        #expect(blocks.map(\.line) == [3])
        #expect(blocks.map(\.output) == [["line 1", "line 2"]])
        #expect(firstDifference(["line 1", "line 2"], ["line 1", "line 2"]) == nil)
        #expect(firstDifference(["line 1", "line 2"], ["line 1", "line 3"]) == 1)
        #expect(firstDifference(["line 1", "line 2"], ["line 1"]) == 1)
        #expect(
            ConsoleBlock.updated(text) { _ in ["other"] }
                == "Text\n```console\n$ a command\nother\n```\nmore")
    }
}
