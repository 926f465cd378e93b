import Foundation
import StageTesting
import Testing

@Suite("Moving on to the next stage")
struct SameCodeTests {
    @Test("is one changed import")
    func oneLine() throws {
        let stages = ["Stage1Naive", "Stage2Handlers", "Stage3ThreadSafe"]
        let files = try stages.map { stage in
            try String(
                contentsOf: Commands.package.appending(path: "Tests/\(stage)Tests/SameCode.swift"),
                encoding: .utf8
            ).components(separatedBy: "\n")
        }
        for (stage, lines) in zip(stages, files) {
            #expect(lines[0] == "import \(stage)")
            #expect(lines.dropFirst() == files[0].dropFirst())
        }
    }
}
