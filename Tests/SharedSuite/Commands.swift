import Foundation
import Synchronization

/// Runs the commands in documents, each in a child process.
package enum Commands {
    package struct Result: Sendable {
        package let status: Int32
        package let output: String
        package let errors: String

        /// What it wrote on standard error, without the progress of a command that takes longer than a
        /// second.
        package var complaints: [String] {
            errors.split(separator: "\n").filter { !$0.hasPrefix("… ") }.map(String.init)
        }

        /// The lines of its output, without parts that differ from run to run. (Swift Testing
        /// reports on standard error.)
        package var lines: [String] {
            var lines = (output.isEmpty ? errors : output).components(separatedBy: "\n").map {
                $0.replacing(/after \d+\.\d+ seconds/, with: "after 0.0 seconds")
            }
            while lines.last == "" { lines.removeLast() }
            return lines
        }
    }

    /// The folder of the package.
    package static let package = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the build products: the one that contains this test.
    package static let products: URL = {
        let executable = URL(filePath: CommandLine.arguments[0])
        let isBundle = executable.pathComponents.contains("MacOS")
        return isBundle
            ? executable.deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent()
            : executable.deletingLastPathComponent()
    }()

    /// - Parameter environment: variables to set, or to leave out.
    package static func promiseLab(
        _ words: [String], environment: [String: String?] = ["NO_COLOR": "1"],
        terminal: TestTerminal? = nil
    ) throws -> Result {
        try run(products.appending(path: "promise-lab"), words, environment, terminal)
    }

    private static let results = Mutex<[String: Result]>([:])

    /// Runs a command that a document shows after `$ `, if it can be checked. Each command runs only
    /// once, however many documents show it.
    package static func run(documented command: String) throws -> Result? {
        if let result = results.withLock({ $0[command] }) { return result }
        guard let result = try runAgain(documented: command) else { return nil }
        results.withLock { $0[command] = result }
        return result
    }

    private static func runAgain(documented command: String) throws -> Result? {
        let words = command.split(separator: " ").map(String.init)
        if words.starts(with: ["swift", "run", "promise-lab"]) {
            return try promiseLab(Array(words.dropFirst(3)))
        }
        if words.starts(with: ["swift", "run", "tutorial"]) {
            return try run(products.appending(path: "tutorial"), Array(words.dropFirst(3)))
        }
        if words.starts(with: ["swift", "test", "--filter"]), words.count == 4 {
            return try tests(filter: words[3])
        }
        return nil
    }

    /// The tests are this program itself, which is started again for one stage.
    private static func tests(filter: String) throws -> Result {
        try run(
            URL(filePath: CommandLine.arguments[0]),
            ["--testing-library", "swift-testing", "--filter", filter])
    }

    /// Type-checks some files, and returns the errors.
    package static func complaintsOfTheCompiler(
        _ files: [URL], mode: String, module: String? = nil
    ) throws -> String {
        let modules = products.appending(path: "Modules").path
        let name = module.map { ["-module-name", $0] } ?? []
        let result = try compiler(
            ["-typecheck", "-swift-version", mode, "-I", modules] + name + files.map(\.path))
        return result.status == 0 ? "" : result.output + result.errors
    }

    package static func compiler(_ words: [String]) throws -> Result {
        try run(URL(filePath: "/usr/bin/env"), ["swiftc"] + words)
    }

    /// The source files of a target.
    package static func sources(of target: String) throws -> [URL] {
        let folders = ["Sources", "Sources/Steps", "Lab", "Course"].map {
            package.appending(path: "\($0)/\(target)")
        }
        let folder = folders.first { FileManager.default.fileExists(atPath: $0.path) } ?? folders[0]
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".swift") }.map { folder.appending(path: $0) }
    }

    /// A target as its manifest declares it.
    package struct Target: Decodable, Sendable {
        package let name: String
        package let path: String?
        package let sources: [String]?
    }

    /// The targets that a manifest declares. The folder is named from the root of this package.
    package static func targets(ofPackageIn folder: String) throws -> [Target] {
        struct Manifest: Decodable { let targets: [Target] }
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let result = try run(
            URL(filePath: "/usr/bin/env"),
            [
                "swift", "package", "--package-path", folder, "--scratch-path", scratch.path,
                "dump-package",
            ])
        return try JSONDecoder().decode(Manifest.self, from: Data(result.output.utf8)).targets
    }

    /// The output about long chains is the same for a tenth of their links. The tests of the rows
    /// use a million.
    private static let shorterChains = [LongChain.variableForLinks: "100000"]

    package static func run(
        _ executable: URL, _ words: [String], _ environment: [String: String?] = ["NO_COLOR": "1"],
        _ terminal: TestTerminal? = nil
    ) throws -> Result {
        let process = Process()
        process.executableURL = executable
        process.arguments = words
        process.currentDirectoryURL = package
        process.environment = ProcessInfo.processInfo.environment.merging(shorterChains) { $1 }
            .merging(environment.compactMapValues(\.self)) { $1 }
            .filter { environment[$0.key] != .some(nil) }
        let output = Pipe()
        let errors = FileManager.default.temporaryDirectory
            .appending(path: "documentation-tests-\(UUID().uuidString)")
        try Data().write(to: errors)
        defer { try? FileManager.default.removeItem(at: errors) }
        process.standardOutput = terminal?.handle ?? output
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.run()
        try output.fileHandleForWriting.close()
        let printed = terminal?.read() ?? output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus,
            output: String(decoding: printed, as: UTF8.self),
            errors: (try? String(contentsOf: errors, encoding: .utf8)) ?? "")
    }
}
