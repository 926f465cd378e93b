import Foundation
import SharedSuite
import Testing

/// The stages and steps stay small enough to read in one sitting, and the package small enough to
/// be understood.
@Suite("Sizes")
struct SizeTests {
    private static let sources = Commands.package.appending(path: "Sources")

    private static let steps =
        ["Stage2Handlers"] + Subject.all(.step).map { "Steps/\($0.module)" } + ["Stage3ThreadSafe"]

    private static func lines(_ path: String) throws -> [String] {
        var text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
        if text.hasSuffix("\n") { text.removeLast() }
        return text.components(separatedBy: "\n")
    }

    private static func files(_ folder: String) throws -> [String] {
        let path = sources.appending(path: folder).path
        return try FileManager.default.contentsOfDirectory(atPath: path)
            .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }

    @Test(
        "a stage can be read in one sitting",
        arguments: [("Stage1Naive", 120), ("Stage2Handlers", 190), ("Stage3ThreadSafe", 350)])
    func stage(folder: String, limit: Int) throws {
        let count = try Self.files(folder).map { try Self.lines($0).count }.reduce(0, +)
        #expect(count <= limit, "Sources/\(folder) has \(count) lines")
    }

    @Test("a step adds at most 80 lines to the previous one", arguments: 1..<steps.count)
    func step(index: Int) throws {
        let (before, after) = (Self.steps[index - 1], Self.steps[index])
        let difference = try Self.lines("\(after)/AWPromise.swift")
            .difference(from: try Self.lines("\(before)/AWPromise.swift"))
        let added = difference.insertions.count
        #expect(added > 0 && added <= 80, "\(after) adds \(added) lines to \(before)")
    }

    @Test("a step is one file", arguments: steps.filter { $0.hasPrefix("Steps/") })
    func oneFile(folder: String) throws {
        #expect(try Self.files(folder) == ["\(folder)/AWPromise.swift"])
    }

    @Test("stages and steps import nothing of the package", arguments: ["Stage1Naive"] + steps)
    func imports(folder: String) throws {
        for file in try Self.files(folder) {
            let imports = try Self.lines(file).filter { $0.contains("import ") }
            #expect(
                Set(imports).isSubset(of: ["import Dispatch", "import Synchronization"]),
                "\(file): \(imports)")
        }
    }

    @Test("lines of the stages and steps fit on a projector", arguments: ["Stage1Naive"] + steps)
    func widths(folder: String) throws {
        for file in try Self.files(folder) {
            let longest = try Self.lines(file).map(\.count).max() ?? 0
            #expect(longest <= 80, "\(file) has a line of \(longest) characters")
        }
    }
}
