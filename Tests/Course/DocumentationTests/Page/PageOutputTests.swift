import Foundation
import RaceLabTesting
import SharedSuite
import Testing

/// Where a command writes a page.
@Suite(.waitsForProcesses, .needsTheLab) struct PageOutputTests {
    private static func inFolder(_ use: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "page-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try use(folder)
    }

    @Test func `a page goes to standard output, or to the file that is named`() throws {
        try Self.inFolder { folder in
            let file = folder.appending(path: "r01.html")
            let words = ["show", "R01", "--stage", "1", "--format", "html"]
            let printed = try Commands.promiseLab(words)
            let written = try Commands.promiseLab(words + ["--output", file.path])
            #expect(printed.status == 0 && written.status == 0)
            #expect(written.output == "")
            #expect(printed.output.hasPrefix("<!DOCTYPE html>"))
            #expect(try String(contentsOf: file, encoding: .utf8) == printed.output)
        }
    }

    @Test(arguments: [
        // There is no page: nothing is wrong with this answer, or it does not compile.
        ["grade", "5", "--file", "Exercises/Answers/05/Mutex.swift", "--format", "html"],
        ["grade", "5", "--file", "Package.swift", "--format", "html"],
        ["show", "R01", "--stage", "1", "--format", "pdf"],
        ["page", "--only", "R99"],
    ])
    func `an error leaves the file as it was`(words: [String]) throws {
        try Self.inFolder { folder in
            let file = folder.appending(path: "kept.html")
            try "kept".write(to: file, atomically: true, encoding: .utf8)
            let result = try Commands.promiseLab(words + ["--output", file.path])
            #expect(result.status != 0 && result.output == "")
            #expect(!result.errors.isEmpty)
            #expect(try String(contentsOf: file, encoding: .utf8) == "kept")
        }
    }

    @Test func `a file that cannot be written is an error`() throws {
        let words = ["show", "R01", "--stage", "1", "--format", "html", "--output", "/nowhere/a"]
        let result = try Commands.promiseLab(words)
        #expect(result.status == 1)
        #expect(result.errors.contains("/nowhere/a cannot be written"))
    }
}
