import Foundation
import Testing

/// What the page of the field guide shows is what its commands print.
@Suite("Field guide page")
struct FieldGuidePageTests {
    private static let page = "Sources/FieldGuide/README.md"
    private static let file = Commands.package.appending(path: page)

    /// `UPDATE_README=1 swift test --filter FieldGuidePage` rewrites the blocks, never the prose.
    private static let updates = ProcessInfo.processInfo.environment["UPDATE_README"] == "1"

    @Test("every console block is what its command prints now")
    func blocks() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        var checked = 0
        let updated = try ConsoleBlock.updated(text) { block in
            let result = try #require(try Commands.run(documented: block.command))
            checked += 1
            #expect(result.status == 0, "\(block.command): \(result.errors)")
            if !Self.updates { compare(block, result.lines) }
            return result.lines
        }
        #expect(checked == 4)
        if Self.updates { try updated.write(to: Self.file, atomically: true, encoding: .utf8) }
    }

    private func compare(_ block: ConsoleBlock, _ lines: [String]) {
        guard let difference = firstDifference(block.output, lines) else { return }
        let said = block.output.indices.contains(difference) ? block.output[difference] : ""
        let prints = lines.indices.contains(difference) ? lines[difference] : ""
        Issue.record(
            """
            \(Self.page):\(block.line + 1 + difference): `\(block.command)` prints
              \(prints)
            but the page says
              \(said)
            """)
    }

    @Test("what the prose says of a hazard is what the matrix says")
    func verdicts() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let lines = text.components(separatedBy: "\n")
        for (id, cells) in [
            ("R06", ["✓", "✗", "✓", "✓"]), ("R09", ["✗", "✓", "✓", "✓"]),
            ("R10", ["✗", "✓", "✓", "✓"]), ("H08", ["✗", "✗", "✓", "✓"]),
            ("H10", ["✗", "✓", "✓", "✓"]), ("H11", ["✗", "✓", "✗", "✓"]),
            ("H12", ["✓", "✗", "✗", "✓"]), ("H14", ["✗", "✓", "✓", "✓"]),
            ("H15", ["✗", "✗", "✗", "✓"]), ("R18", ["✓", "✓", "✓", "✓"]),
            ("C01", ["✗", "✗", "✗", "✓"]),
        ] {
            let row = try #require(lines.first { $0.hasPrefix("\(id)  ") })
            #expect(row.filter { "✓✗–?".contains($0) }.map(String.init) == cells, "\(id)")
        }
    }
}
