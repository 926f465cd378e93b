import Foundation
import Graders
import RaceLab
import SharedSuite
import StageTesting
import Testing

/// What the Tutorial shows and claims is so.
@Suite("Tutorial", .serialized, .enabled(if: unavailable == nil, "the lab cannot work here"))
struct TutorialTests {
    static let file = Commands.package.appending(path: "Tutorial.md")

    /// `UPDATE_TUTORIAL=1 swift test --filter Tutorial` rewrites the blocks, never the prose.
    static let updates = ProcessInfo.processInfo.environment["UPDATE_TUTORIAL"] == "1"

    static func text() throws -> String { try String(contentsOf: file, encoding: .utf8) }

    // A command that fails leaves its words where the document has its output, and so the complaint
    // says why.
    @Test("every block is what its file, its command or the lab says now")
    func blocks() throws {
        var check = TutorialCheck(try Self.text(), .thisPackage)
        try check.checkBlocks()
        if Self.updates {
            try check.corrected.write(to: Self.file, atomically: true, encoding: .utf8)
            check = TutorialCheck(check.corrected, .thisPackage)
            try check.checkBlocks()
        }
        for complaint in check.complaints { Issue.record("\(complaint)") }
    }

    @Test("every figure is counted again")
    func figures() throws {
        var check = TutorialCheck(try Self.text(), .thisPackage)
        let figures = TutorialFigures(text: check.text)
        try check.checkFigures(figures.value)
        for complaint in check.complaints { Issue.record("\(complaint)") }
    }

    @Test("every path, hazard, exercise, command and test that is named exists")
    func names() throws {
        var check = TutorialCheck(try Self.text(), .thisPackage)
        check.checkNames(
            hazards: Catalogue.all.map(\.id), exercises: Exercise.all.map(\.number),
            commands: try Self.commands(),
            tests: try Self.testSources())
        for complaint in check.complaints { Issue.record("\(complaint)") }
    }

    /// The commands in the overview that `promise-lab --help` prints.
    static func commands() throws -> [String] {
        let overview = try Commands.promiseLab(["--help"]).output
        return overview.matches(of: /promise-lab (-*[a-z]+)/).map { String($0.1) }
    }

    private static func testSources() throws -> String {
        let folder = Commands.package.appending(path: "Tests")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") }.map {
            try "\($0)\n" + String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }.joined()
    }

    @Test("every hazard, every exercise and every operator is named")
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
        let folder = Commands.package.appending(path: "Sources/Stage3ThreadSafe/Operators")
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let isNamed = text.contains("/\(file)`")
            #expect(isNamed, "Tutorial.md does not name the operator \(file)")
        }
    }

    @Test("the words are those of the house")
    func words() throws {
        for (line, text) in FencedBlock.prose(of: try Self.text()) {
            let isPlain = !text.lowercased().contains("simply")
            #expect(isPlain, "Tutorial.md:\(line)")
        }
    }
}

extension TutorialCheck.World {
    /// The package as it is.
    static let thisPackage = TutorialCheck.World(
        file: { path in
            let url = Commands.package.appending(path: path)
            guard FileManager.default.fileExists(atPath: url.path) else { return nil }
            return (try? String(contentsOf: url, encoding: .utf8)) ?? ""
        },
        output: { block in
            // These are for the reader, who sees what comes of them.
            if ["diff ", "swift build"].contains(where: block.command.hasPrefix) { return [] }
            guard let result = try Commands.run(documented: block.command) else { return nil }
            if result.status != 0 {
                let said = (result.output + result.errors).components(separatedBy: "\n")
                let errors = said.filter { $0.hasPrefix("✘") || $0.hasPrefix("promise-lab:") }
                return ["(ends with status \(result.status))"] + errors
            }
            return block.excerpt(result.lines)
        },
        example: { try TutorialExample(rawValue: $0)?.lines() },
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
            path.isEmpty ? module : path.split(separator: "/").dropFirst().first.map(String.init)
        let isOld = stage == "Stage1Naive" || stage == "Stage2Handlers"
        return try Commands.complaintsOfTheCompiler(
            [copy] + others(path), mode: isOld ? "5" : "6", module: path.isEmpty ? nil : stage)
    }

    /// The other source files of the target to which one belongs.
    private static func others(_ path: String) throws -> [URL] {
        let target = path.split(separator: "/").prefix(2).joined(separator: "/")
        guard !target.isEmpty else { return [] }
        let folder = Commands.package.appending(path: target)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") && "\(target)/\($0)" != path }
            .map { folder.appending(path: $0) }
    }
}
