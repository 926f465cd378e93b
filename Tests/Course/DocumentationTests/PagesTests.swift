import Foundation
import Graders
import RaceLabTesting
import SharedSuite
import Testing

/// Pages other than the Tutorial quote files and the output of commands exactly.
@Suite("Pages", .needsTheLabElsewhere)
struct PagesTests {
    static let pages = [
        "README.md", "Exercises/TEACHING.md", "Sources/FieldGuide/README.md",
        "Lab/RaceLab/RaceLab.docc/GettingStarted.md",
        "docs/Found.md", "docs/Sampling.md", "docs/Speed.md", "docs/Tests.md",
    ]

    /// `UPDATE_README=1 swift test --filter PagesTests` rewrites the blocks, never the prose.
    private static let updates = ProcessInfo.processInfo.environment["UPDATE_README"] == "1"

    private static func text(_ page: String) throws -> String {
        try String(contentsOf: Commands.package.appending(path: page), encoding: .utf8)
    }

    @Test("every block matches its file, its command or the compiler", arguments: pages)
    func blocks(page: String) throws {
        try TutorialCheck.checkBlocks(ofDocument: page, updating: Self.updates)
    }

    @Test("every path, hazard, exercise, command and test that is named exists", arguments: pages)
    func names(page: String) throws {
        var check = TutorialCheck(try Self.text(page), .thisPackage)
        check.checkNames(
            hazards: Catalogue.all.map(\.id), exercises: Exercise.all.map(\.number),
            commands: TutorialTests.commands(), tests: try TutorialTests.testSources())
        for complaint in check.complaints { Issue.record("\(page): \(complaint)") }
    }

    @Test("the README has fewer than 150 lines, and begins with two commands")
    func length() throws {
        let text = try Self.text("README.md")
        #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 150)
        let commands = ConsoleBlock.blocks(in: text).prefix(2).map(\.command)
        #expect(commands == ["swift run promise-lab", "swift test"])
    }

    @Test("every page of the folder docs is checked")
    func complete() throws {
        let folder = Commands.package.appending(path: "docs")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for file in files where file.hasSuffix(".md") {
            #expect(Self.pages.contains("docs/\(file)"), "\(file)")
        }
    }
}
