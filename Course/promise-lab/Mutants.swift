import Foundation
import SharedSuite

extension Command {
    static let mutants = Command(
        "mutants", "plants faults that the rows must notice",
        help: """
            Copies the package to a temporary folder and plants one fault after the other there (the
            lock removed, handlers called under it, …). For each, it builds the copy, runs the rows
            that must notice the fault, and checks that they fail for the right reason. Takes two or
            three minutes. The exit status is 0 if every fault was noticed, 1 if one was not.
            """
    ) { _ in try MutantsCommand.run() }
}

/// Plants faults in a copy of the sources and checks that the matrix, or the cases of Promises/A+,
/// notice them: a test of the tests.
enum MutantsCommand {
    static func run() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        guard FileManager.default.fileExists(atPath: package.appending(path: "Package.swift").path)
        else {
            throw Unfinished("the sources are needed, and they are not at \(package.path)")
        }
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "promise-lab-mutants-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copy) }
        for name in ["Course", "Lab", "Package.swift", "Sources", "Tests"] {
            try FileManager.default.copyItem(
                at: package.appending(path: name), to: copy.appending(path: name))
        }
        print("Each fault is planted in a copy of the package; the checks must notice it.\n")
        var unnoticed = 0
        for mutant in PlantedFault.all where !(try isNoticed(mutant, in: copy)) { unnoticed += 1 }
        guard unnoticed == 0 else { throw Unfinished("\(unnoticed) faults went unnoticed") }
        print("\nEvery fault was noticed, by the rows and for the reasons named.")
    }

    private static func isNoticed(_ mutant: PlantedFault, in copy: URL) throws -> Bool {
        let file = copy.appending(path: mutant.file)
        let original = try String(contentsOf: file, encoding: .utf8)
        defer { try? original.write(to: file, atomically: true, encoding: .utf8) }
        var source = original
        for (text, replacement) in mutant.edits {
            guard source.contains(text) else {
                throw Unfinished(
                    "\(mutant.name): \(mutant.file) has no '\(text)' any more; "
                        + "adapt the fault in Tests/SharedSuite/PlantedFaults.swift")
            }
            source = source.replacingOccurrences(of: text, with: replacement)
        }
        try source.write(to: file, atomically: true, encoding: .utf8)
        let build = try start(["swift", "build", "--product", "promise-lab"], in: copy)
        guard build.status == 0 else {
            throw Unfinished("\(mutant.name): it does not compile\n\(build.output)")
        }
        let program = copy.appending(path: ".build/debug/promise-lab").path
        let runs = try commands(for: mutant).map { try start([program] + $0, in: copy) }
        let output = runs.map(\.output).joined(separator: "\n")
        let complaints = runs.flatMap { Self.complaints(in: $0.output) }
        let missing = mutant.noticedBy.filter { row, reason in
            !complaints.contains { $0.hasPrefix(row) && $0.contains(reason) }
        }
        let rows = mutant.noticedBy.map { "\($0.row): \($0.reason)" }
        if missing.isEmpty, runs.contains(where: { $0.status == 1 }) {
            print(Terminal.wrapped([Span("✓ ", .success), Span(mutant.name)]))
            print(Terminal.wrapped(rows.joined(separator: "; "), margin: 4))
            return true
        }
        let asleep = missing.map { "\($0.row) (\($0.reason))" }.joined(separator: ", ")
        print(
            Terminal.wrapped([
                Span("✗ ", .failure), Span("\(mutant.name): not noticed by \(asleep)"),
            ]))
        print(output)
        return false
    }

    /// The errors that a command reports, one line each, after all other output.
    private static func complaints(in output: String) -> [String] {
        output.components(separatedBy: "promise-lab: ").dropFirst()
            .map { $0.replacing("\n", with: " ") }
    }

    /// The commands for the rows that must notice and, if there are clauses among them, for all
    /// clauses.
    private static func commands(for mutant: PlantedFault) -> [[String]] {
        let ids = mutant.noticedBy.map { $0.row.prefix { $0 != " " } }.map(String.init)
        let hazards = ids.filter { Catalogue.hazard($0) != nil }
        let columns = mutant.file.contains("/Steps/") ? ["--steps"] : []
        let matrix = ["matrix", "--only", hazards.joined(separator: ",")] + columns
        return hazards.count < ids.count ? [matrix, ["aplus"]] : [matrix]
    }

    private static func start(
        _ words: [String], in folder: URL
    ) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
