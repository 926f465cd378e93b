import Foundation
import SharedSuite
import StageTesting
import Testing

/// What the page of the field guide shows is what its commands print.
@Suite("Field guide page", .needsTheLab)
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

    @Test(
        "mistyped designs are explained on standard error, with status 2",
        arguments: [
            ("show R06 --design Hydra", "there is no design 'Hydra'; there are BoltsStyle"),
            ("compare PromiseKitStyle Hydra R06", "there is no 'Hydra' to compare"),
            ("compare PromiseKitStyle Stage3ThreadSafe H02", "no interleavings to compare"),
            ("compare BoltsStyle Stage1Naive R06", "Stage 1 cannot express R06"),
            ("compare BoltsStyle", "a word is missing: what to compare"),
            ("list --designs", "there is no option '--designs' here"),
        ])
    func mistakes(command: String, complaint: String) throws {
        let result = try Commands.promiseLab(command.split(separator: " ").map(String.init))
        #expect(result.status == 2)
        #expect(result.errors.contains(complaint), "it says: \(result.errors)")
    }

    @Test("a race can be shown on each design, in 100 columns")
    func columns() throws {
        for design in Subject.all(.design).map(\.name) {
            for race in ["R01", "R06", "R09", "R10"] {
                let result = try Commands.promiseLab(["show", race, "--design", design])
                #expect(result.status == 0 && result.errors == "")
                #expect(result.lines.allSatisfy { $0.count <= 100 })
            }
        }
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
