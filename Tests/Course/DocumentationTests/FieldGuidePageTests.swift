import Foundation
import RaceLabTesting
import SharedSuite
import Testing

/// The commands about designs, and the verdicts in the prose of the field guide.
@Suite("Field guide page", .needsTheLabElsewhere)
struct FieldGuidePageTests {
    private static let page = "Sources/FieldGuide/README.md"
    private static let file = Commands.package.appending(path: page)

    @Test(
        "mistyped designs are explained on standard error, with status 2",
        arguments: [
            ("show R06 --design Hydra", "there is no design 'Hydra'; there are BoltsStyle"),
            ("compare PromiseKitStyle Hydra R06", "there is no 'Hydra' to compare"),
            ("compare PromiseKitStyle Stage3ThreadSafe H02", "no interleavings to compare"),
            ("compare BoltsStyle Stage1Naive R06", "Stage 1 cannot express R06"),
            ("compare BoltsStyle", "missing argument: what to compare"),
            ("list --designs", "unknown option '--designs'"),
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
                #expect(result.status == 0 && result.complaints.isEmpty)
                #expect(result.lines.allSatisfy { $0.count <= 100 })
            }
        }
    }

    @Test("a verdict in the prose is the verdict in the matrix")
    func verdicts() throws {
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        let lines = text.components(separatedBy: "\n")
        for (id, cells) in [
            ("R01", "✓✓✓✓✓✓"), ("R02", "✓✓✓✗✓✓"), ("R03", "✓✓✓✗✓✓"), ("R05", "✓✓✓✗✓✓"),
            ("R06", "✓✗✓✗✓✓"), ("R07", "✓✓✓✗✓✓"), ("R09", "✗✓✓✓✓✓"), ("R10", "✗✓✓––✓"),
            ("R18", "✓✓✓✓✓✓"), ("H08", "✗✗✓––✓"), ("H10", "✗✓✓––✓"), ("H11", "✗✓✗––✓"),
            ("H12", "✓✗✓––✓"), ("H14", "✗✓✓––✓"), ("H15", "✗✗✗––✓"), ("H19", "✓✗✗––✓"),
            ("C01", "✗✗✗✓✓✓"),
        ] {
            let row = try #require(lines.first { $0.hasPrefix("\(id)  ") })
            #expect(row.filter { "✓✗–?".contains($0) } == cells, "\(id)")
            #expect(row.count <= 100, "\(id)")
        }
    }
}
