import Foundation
import RaceLabTesting
import SharedSuite
import Testing

/// Builds and runs a package that tests its classes with the lab, as RaceLab.docc/GettingStarted.md
/// in Lab/RaceLab describes. Each test finds its bug at its own line.
@Suite(
    "A package that adopts the lab",
    .enabled(
        if: ProcessInfo.processInfo.environment["REQUIRE_ADOPTION"] != nil,
        "it is built for minutes: set REQUIRE_ADOPTION"),
    .needsTheLabElsewhere)
struct AdoptionTests {
    private static let folder = "Tests/Lab/Adoption"
    private static let found = [
        ("two customers, one piece", "more was sold than there is"),
        ("two visitors", "overlapping modification"),
        ("two transfers", "deadlock"),
        ("one letter", "to be woken by a signal"),
        ("one offer", "the atomic operations between them are too weak"),
        ("a listener that listens again", "for the lock that it took itself"),
    ]

    @Test("each test finds its bug, reports it at its line, and attaches it")
    func run() throws {
        let attachments = FileManager.default.temporaryDirectory
            .appending(path: "adoption-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: attachments, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: attachments) }
        let result = try Commands.run(
            URL(filePath: "/usr/bin/env"),
            [
                "swift", "test", "--package-path", Self.folder, "--scratch-path", ".build-adoption",
                "--attachments-path", attachments.path,
            ])
        let output = result.output + result.errors
        #expect(result.status != 0)
        try checkSwiftTesting(output)
        try checkXCTest(output)
        try checkPage(output)
        let files = try FileManager.default.contentsOfDirectory(
            at: attachments, includingPropertiesForKeys: nil)
        let traces = try files.filter { $0.pathExtension == "json" }.map {
            try JSONSerialization.jsonObject(with: Data(contentsOf: $0)) as? [String: Any]
        }
        #expect(traces.filter { $0?["kind"] as? String == "trace" }.count > Self.found.count)
    }

    /// The package manager permits unsafe flags in a dependency with a version only from version 6.2
    /// of its manifests on.
    @Test("the same package can depend on a version of a repository")
    func version() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "adoption-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let repository = folder.appending(path: "AWPromise")
        let made = try Commands.run(
            URL(filePath: "/usr/bin/env"),
            [
                "bash", "-euc",
                """
                mkdir "$1"
                git ls-files -z --cached --others --exclude-standard |
                    xargs -0 cp --parents --target-directory "$1"
                cp -r \(Self.folder) "$2"
                cd "$1"
                git init --quiet
                git add --all
                git -c user.name=Test -c user.email=test@localhost commit --quiet -m "A version"
                git tag 1.0.0
                """, "bash", repository.path, folder.appending(path: "Shop").path,
            ])
        try #require(made.status == 0, "\(made.errors)")
        let result = try Commands.run(
            URL(filePath: "/usr/bin/env"),
            [
                "AWPROMISE_REPOSITORY=file://\(repository.path)", "swift", "test",
                "--package-path", folder.appending(path: "Shop").path,
            ])
        let output = result.output + result.errors
        #expect(output.contains("1.0.0"), "\(output)")
        try checkSwiftTesting(output)
        try checkXCTest(output)
    }

    private func checkSwiftTesting(_ output: String) throws {
        let tests = try Source("ShopTests.swift")
        for (name, words) in Self.found {
            let line = try tests.line(of: "expectSurvives", after: "@Test(\"\(name)\")")
            let heading = "✘ Test \"\(name)\" recorded an issue at ShopTests.swift:\(line):"
            let issue = try #require(output.firstRange(of: heading), "\(name):\n\(output)")
            let rest = output[issue.upperBound...]
            let report = rest[..<(rest.firstRange(of: "replay: ")?.lowerBound ?? rest.endIndex)]
            let sentence = report.split { $0.isWhitespace }.joined(separator: " ")
            #expect(sentence.contains(words), "\(name):\n\(output)")
            #expect(output.contains("Attached 'counterexample.txt' to \"\(name)\""))
        }
        #expect(output.contains("✔ Test \"two customers, one piece, one lock\" passed"))
        // The failure belongs to no test, but it is reported.
        let line = try tests.line(of: "expectSurvives", after: "func ownThread()")
        #expect(output.contains("recorded an issue at ShopTests.swift:\(line):"), "\(output)")
        #expect(output.contains("with \(Self.found.count + 1) issues."), "\(output)")
    }

    private func checkXCTest(_ output: String) throws {
        let tests = try Source("ShopXCTests.swift")
        for name in ["testVisits", "testTransfers"] {
            let line = try tests.line(of: "expectSurvives", after: "func \(name)()")
            let failure =
                "ShopXCTests.swift:\(line): error: ShopXCTests.\(name) : failed - "
                + "first failure in interleaving"
            #expect(output.contains(failure), "\(output)")
        }
        #expect(output.contains("Executed 3 tests, with 2 failures"), "\(output)")
    }

    /// Compares the page with the output.
    private func checkPage(_ output: String) throws {
        let page = Commands.package.appending(
            path: "Lab/RaceLab/RaceLab.docc/GettingStarted.md")
        let blocks = FencedBlock.blocks(in: try String(contentsOf: page, encoding: .utf8))
        let shown = try #require(blocks.first { $0.body.first?.hasPrefix("✘ Test") == true })
        let trimmed = output.replacing(#/[ ]+(?=\n)/#, with: "")
        #expect(trimmed.contains(shown.body.joined(separator: "\n")), "\(output)")
    }

    private struct Source {
        let lines: [String]

        init(_ file: String) throws {
            let url = Commands.package.appending(path: "\(folder)/Tests/ShopTests/\(file)")
            lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        }

        /// Counted from 1.
        func line(of words: String, after beginning: String) throws -> Int {
            let start = try #require(lines.firstIndex { $0.contains(beginning) })
            return try #require(lines[start...].firstIndex { $0.contains(words) }) + 1
        }
    }
}
