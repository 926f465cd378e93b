import Foundation
import Graders
import RaceLab
import RaceLabTesting
import SharedSuite
import Testing

@testable import promise_lab

/// Everything that the Tutorial shows and claims is true.
@Suite("Tutorial", .needsTheLabElsewhere)
struct TutorialTests {
    static let file = Commands.package.appending(path: "Tutorial.md")

    /// `UPDATE_TUTORIAL=1 swift test --filter Tutorial` rewrites the blocks, never the prose.
    static let updates = ProcessInfo.processInfo.environment["UPDATE_TUTORIAL"] == "1"

    static func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    /// The editions of the Tutorial.
    static let editions = ["Tutorial.md", "Tutorial.zh.md"]

    static func text(_ edition: String) throws -> String {
        try String(contentsOf: Commands.package.appending(path: edition), encoding: .utf8)
    }

    @Test("every block matches its file, its command or the compiler")
    func blocks() throws {
        // The blocks of the other edition are the same; EditionTests compares them.
        try TutorialCheck.checkBlocks(ofDocument: "Tutorial.md", updating: Self.updates)
    }

    @Test("every figure is computed", arguments: editions)
    func figures(edition: String) throws {
        var check = TutorialCheck(try Self.text(edition), .thisPackage)
        try check.checkFigures(TutorialFigures().value)
        for complaint in check.complaints { Issue.record("\(edition): \(complaint)") }
    }

    @Test(
        "every path, hazard, exercise, command and test that is named exists", arguments: editions)
    func names(edition: String) throws {
        var check = TutorialCheck(try Self.text(edition), .thisPackage)
        check.checkNames(
            hazards: Catalogue.all.map(\.id), exercises: Exercise.all.map(\.number),
            commands: Self.commands(),
            tests: try Self.testSources())
        for complaint in check.complaints { Issue.record("\(edition): \(complaint)") }
    }

    /// The commands in the overview that `promise-lab --help` prints.
    static func commands() -> [String] {
        Command.all.filter { !$0.isInternal }.map(\.name) + Command.matrix.arguments.map(\.name)
            + ["help"]
    }

    static func testSources() throws -> String {
        let folder = Commands.package.appending(path: "Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") }.map {
            try "\($0)\n" + String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }.joined()
    }

    @Test("every hazard and every exercise is named")
    func complete() throws {
        let text = try Self.text()
        for hazard in Catalogue.all {
            let isNamed = text.contains(hazard.id)
            #expect(isNamed, "Tutorial.md does not name \(hazard.id)")
        }
        let exercises = TutorialCheck.exercises(in: text)
        for exercise in Exercise.all {
            let isNamed = exercises.contains(exercise.number)
            #expect(isNamed, "Tutorial.md does not name exercise \(exercise.number)")
        }
    }

    @Test("before the first appendix, it has at most 9,000 words of prose")
    func length() throws {
        let parts = try Self.text().components(separatedBy: "\n## Appendix")
        try #require(parts.count > 1)
        let words = TutorialFigures.words(in: FencedBlock.prose(of: parts[0]).map(\.text))
        print("Tutorial.md has \(words) words of prose")
        #expect((8_000...9_000).contains(words), "\(words)")
    }

    /// The terms that a reader of the Tutorial learns.
    private static let terms = [
        "abandoned", "actor reentrancy", "atomic operation", "atomicity violation",
        "check-then-act", "context switch", "critical section", "data race", "deadlock",
        "enabled thread", "finding", "happens-before", "interleaving", "invariant", "lab",
        "linearizable", "livelock", "lock ordering", "lost wakeup", "matrix", "memory ordering",
        "mutual exclusion", "order violation", "over-synchronization", "partial-order reduction",
        "preemption", "preemption bound", "race condition", "reentrancy", "relaxed", "scenario",
        "schedule", "sequentially consistent", "shadow cell", "sleep set", "slot",
        "spurious wakeup", "starvation", "stress test", "survives", "token", "unhandled rejection",
        "vector clock",
    ]

    @Test("every term is introduced in a chapter and explained in the glossary")
    func glossary() throws {
        let parts = try Self.text().components(separatedBy: "\n## Glossary\n")
        try #require(parts.count == 2)
        let chapters = FencedBlock.prose(of: parts[0]).map(\.text).joined(separator: " ")
        for term in Self.terms {
            let isIntroduced = chapters.contains(try Regex("\\*\(term)s?\\*").ignoresCase())
            #expect(isIntroduced, "no chapter introduces '\(term)'")
            #expect(parts[1].contains("| \(term)"), "the glossary has no '\(term)'")
        }
    }
}

extension TutorialCheck {
    /// Records an issue for each block of a document of this package that is not true, or rewrites
    /// the blocks. The prose is never rewritten.
    static func checkBlocks(ofDocument path: String, updating: Bool) throws {
        let file = Commands.package.appending(path: path)
        var check = TutorialCheck(try String(contentsOf: file, encoding: .utf8), .thisPackage)
        try check.checkBlocks()
        if updating {
            try check.corrected.write(to: file, atomically: true, encoding: .utf8)
            check = TutorialCheck(check.corrected, .thisPackage)
            try check.checkBlocks()
        }
        for complaint in check.complaints { Issue.record("\(path): \(complaint)") }
    }
}

extension TutorialCheck.World {
    /// This package.
    static let thisPackage = TutorialCheck.World(
        file: { path in
            let url = Commands.package.appending(path: path)
            guard FileManager.default.fileExists(atPath: url.path) else { return nil }
            return (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        },
        output: { block in
            // The output of these commands is not shown.
            if ["diff ", "swift build"].contains(where: block.command.hasPrefix)
                || ["swift test", "swift run -c release promise-bench"].contains(block.command)
            {
                return []
            }
            guard let result = try Commands.run(documented: block.command) else { return nil }
            if result.status != 0 {
                let said = (result.output + result.errors).components(separatedBy: "\n")
                let errors = said.filter { $0.hasPrefix("✘") || $0.hasPrefix("promise-lab:") }
                return ["\(TutorialCheck.failure)\(result.status))"] + errors
            }
            return block.excerpt(result.lines)
        },
        compiler: { try complaints($0, $1, $2) })

    private static func complaints(
        _ text: String, _ path: String, _ module: String?
    ) throws -> String {
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "tutorial-\(UUID().uuidString).swift")
        defer { try? FileManager.default.removeItem(at: copy) }
        let imports = module.map { "import \($0)\n" } ?? ""
        try (imports + text).write(to: copy, atomically: true, encoding: .utf8)
        let stage =
            path.isEmpty ? module : path.split(separator: "/").dropLast().last.map(String.init)
        let isOld = stage == "Stage1Naive" || stage == "Stage2Handlers"
        return try Commands.complaintsOfTheCompiler(
            [copy] + others(path), mode: isOld ? "5" : "6", module: path.isEmpty ? nil : stage)
    }

    /// The other source files of the target that contains a file.
    private static func others(_ path: String) throws -> [URL] {
        let components = path.split(separator: "/")
        guard !components.isEmpty else { return [] }
        let target = components.prefix(components[1] == "Steps" ? 3 : 2).joined(separator: "/")
        let folder = Commands.package.appending(path: target)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && "\(target)/\($0)" != path }
            .map { folder.appending(path: $0) }
    }
}
