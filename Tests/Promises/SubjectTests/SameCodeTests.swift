import Foundation
import RaceLabTesting
import SharedSuite
import Testing

@Suite("The same code on every stage", .waitsForProcesses)
struct SameCodeTests {
    @Test(
        "a stage that is copied out compiles and runs with this code",
        arguments: Subject.all.filter { $0.kind != .design })
    func copiedOut(_ subject: Subject) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "same-code-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let code = try String(contentsOfFile: Self.code, encoding: .utf8)
        let firstLine = "import Stage1Naive\n"
        #expect(code.hasPrefix(firstLine))
        let files = [
            ("SameCode.swift", String(code.dropFirst(firstLine.count))), ("main.swift", Self.main),
        ]
        for (name, text) in files {
            try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let program = folder.appending(path: "same-code")
        let sources =
            try Commands.sources(of: subject.module) + files.map { folder.appending(path: $0.0) }
        let built = try Commands.compiler(
            ["-swift-version", "5", "-o", program.path] + sources.map(\.path))
        #expect(built.status == 0, "\(built.errors)")
        let ran = try Commands.run(program, [])
        #expect(ran.lines == ["10 euros", "OutOfStock", "OutOfStock"])
    }

    private static let code = #filePath.replacing("SameCodeTests.swift", with: "SameCode.swift")

    /// Waits without blocking the main queue, on which handlers of Stage 3 run.
    private static let main = """
        for quantity in [2, 12, 0] {
            await withCheckedContinuation { reported in
                order(quantity) {
                    print($0)
                    reported.resume()
                }
            }
        }
        """
}
